// Entity ↔ row of the entity table.
import type { Insertable, Selectable } from 'kysely';
import type { Trust } from '../../catalog/contract.ts';
import type { Entity, Facets, StoredEntity, StoredSummary } from '../../catalog/entity.ts';
import type { EntityFacts } from '../../catalog/facts.ts';
import type { LifecycleStatus } from '../../catalog/manifest.ts';
import type { EntityType } from '../../catalog/uid.ts';
import type { EntityTable } from '../tables.ts';

/** Increment this when `entityFromManifest` or `rowFromEntity` changes its mapping: the hub then rewrites stored rows at startup. */
export const MAPPING = 15;

/** The columns of a list; manifests are not read. */
export const SUMMARY_COLUMNS = [
  'uid',
  'type',
  'slug',
  'version',
  'version_key',
  'name',
  'title',
  'summary',
  'status',
  'quality',
  'published_at',
  'source_url',
  'facets',
  'created_at',
  'updated_at',
  'gateway_registered_at',
  'gateway_error',
  'missing_since',
  'missing_reason',
  'changed_at',
  'blocked_at',
  'blocked_reason',
  'owner_url',
  'made_of',
  'is_prerelease',
  'is_registrable',
  'is_hidden',
  'is_held',
  'needs_approval',
  'trust',
  'facts',
] as const satisfies (keyof EntityTable)[];

export const ENTITY_COLUMNS = [...SUMMARY_COLUMNS, 'manifest_digest', 'mcp_registration'] as const;

type RowOf<Columns extends readonly (keyof EntityTable)[]> = Pick<Selectable<EntityTable>, Columns[number]>;

/** `manifest` goes into the table of that name. */
export type NewEntityRow = Insertable<EntityTable> & { manifest: string };

export function rowFromEntity(entity: Entity, at: Date): NewEntityRow {
  return {
    uid: entity.uid,
    type: entity.type,
    slug: entity.slug,
    version: entity.version,
    version_key: entity.versionKey,
    name: entity.name,
    title: entity.title,
    summary: entity.summary,
    haystack: foldText([entity.name, entity.title, entity.summary, ...entity.facets.tag].join(' ')),
    status: entity.status,
    quality: entity.quality,
    published_at: entity.publishedAt,
    source_url: entity.sourceUrl,
    manifest: entity.manifestText,
    manifest_digest: entity.manifestDigest,
    facets: JSON.stringify(entity.facets),
    mcp_registration: entity.mcpRegistration && JSON.stringify(entity.mcpRegistration),
    is_prerelease: entity.isPrerelease ? 1 : 0,
    is_registrable: entity.isRegistrable ? 1 : 0,
    facts: JSON.stringify(entity.facts),
    brings: entity.facts.brings,
    mapping: MAPPING,
    created_at: at.toISOString(),
    updated_at: at.toISOString(),
  };
}

export function entityFromRow(row: RowOf<typeof ENTITY_COLUMNS> & { manifest: string }): StoredEntity {
  return {
    ...summaryFromRow(row),
    manifestText: row.manifest,
    manifestDigest: row.manifest_digest,
    mcpRegistration: row.mcp_registration && JSON.parse(row.mcp_registration),
  };
}

export function summaryFromRow(row: RowOf<typeof SUMMARY_COLUMNS>): StoredSummary {
  return {
    uid: row.uid,
    type: row.type as EntityType,
    slug: row.slug,
    version: row.version,
    versionKey: row.version_key,
    name: row.name,
    title: row.title,
    summary: row.summary,
    status: row.status as LifecycleStatus,
    quality: row.quality,
    publishedAt: row.published_at,
    sourceUrl: row.source_url,
    facets: facetsFromText(row.facets),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    gatewayRegisteredAt: row.gateway_registered_at,
    gatewayError: row.gateway_error,
    missingSince: row.missing_since,
    missingReason: row.missing_since && row.missing_reason,
    changedAt: row.changed_at,
    blockedAt: row.blocked_at,
    blockedReason: row.blocked_reason,
    ownerUrl: row.owner_url,
    contentFrom: row.made_of === null ? null : row.owner_url,
    isPrerelease: row.is_prerelease === 1,
    isRegistrable: row.is_registrable === 1,
    isHidden: row.is_hidden === 1,
    isHeld: row.is_held === 1,
    needsApproval: row.needs_approval === 1,
    trust: trustFromText(row.trust),
    facts: factsFromText(row.facts),
  };
}

/** Rows with an older mapping have no transports until they are rewritten. */
export function facetsFromText(facets: string): Facets {
  return { transport: [], ...(JSON.parse(facets) as Omit<Facets, 'transport'>) };
}

/** Rows with an older mapping have no facts until they are rewritten. */
export function factsFromText(facts: string | null): EntityFacts {
  return facts === null ? NO_FACTS : (JSON.parse(facts) as EntityFacts);
}

export function trustFromText(trust: string | null): Trust | null {
  return trust === null ? null : (JSON.parse(trust) as Trust);
}

const NO_FACTS: EntityFacts = {
  publisher: null,
  license: null,
  transports: [],
  artifacts: [],
  hasDigests: false,
  brings: '',
};

/** Lower case without accents, for comparisons that ignore both. */
export function foldText(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}
