// The catalog record: made from a manifest, stored, and shown to callers.
import { asObject, type JsonObject } from '../lib/json.ts';
import { jsonDigest } from '../lib/json-digest.ts';
import { shownAddress } from '../lib/secrets/secret-address.ts';
import type { EntityRecord, EntitySummary, TrustState } from './contract.ts';
import { type EntityFacts, factsOfManifest } from './facts.ts';
import { type LifecycleStatus, type Manifest, readManifest } from './manifest.ts';
import { qualityScore, qualitySignals, recencyScore } from './quality.ts';
import { registrationFault } from './server.ts';
import { transportsOf } from './transport.ts';
import { type EntityType, type EntityUid, formatUid } from './uid.ts';
import { isPrerelease, versionKey } from './version-order.ts';

/** A manifest as it arrived. */
export interface ManifestSource {
  document: unknown;
  /** The JSON text that `document` was parsed from; kept as it is, so that even long numbers survive. */
  text?: string;
  /** Address of the manifest. */
  sourceUrl?: string;
}

/** What is stored: the manifest as it came, and what the database has to sort and filter by. */
export interface Entity {
  uid: EntityUid;
  type: EntityType;
  slug: string;
  version: string;
  versionKey: string;
  isPrerelease: boolean;
  name: string;
  title: string | null;
  summary: string;
  status: LifecycleStatus;
  quality: number;
  publishedAt: string | null;
  sourceUrl: string | null;
  manifestText: string;
  manifestDigest: string;
  mcpRegistration: JsonObject | null;
  /** Whether a gateway could register it as its manifest is. */
  isRegistrable: boolean;
  facets: Facets;
  /** Further facts that rules use. */
  facts: EntityFacts;
}

const FACETS = ['capability', 'framework', 'provider', 'tag', 'transport'] as const;
export type Facets = Record<(typeof FACETS)[number], string[]>;

export interface StoredEntity extends Entity {
  createdAt: string;
  updatedAt: string;
  gatewayRegisteredAt: string | null;
  gatewayError: string | null;
  /** Since when no remote lists it. */
  missingSince: string | null;
  /** When the content of this version last changed after it was first published. */
  changedAt: string | null;
  blockedAt: string | null;
  blockedReason: string | null;
  /** Address of the remote it belongs to. */
  ownerUrl: string | null;
  /** Left out of searches and lists by the policy. */
  isHidden: boolean;
  /** Kept out of the gateway, by the policy or by the settings of its remote. */
  isHeld: boolean;
  needsApproval: boolean;
  /** Null if the origin of its current content has not been checked. */
  trustState: TrustState | null;
}

/** What a list shows: without the manifest, which may have a megabyte. */
export type StoredSummary = Omit<StoredEntity, 'manifestText' | 'manifestDigest' | 'mcpRegistration'>;

export interface EntityVersion {
  uid: EntityUid;
  version: string;
  status: LifecycleStatus;
  isBlocked: boolean;
  isHidden: boolean;
}

/** What is needed to show an entity beside the entity itself. */
export interface Presentation {
  baseUrl: string;
  now: Date;
}

/** @throws HubError `invalid_manifest` */
export function entityFromManifest({ document, text, sourceUrl }: ManifestSource): Entity {
  const manifest = readManifest(document);
  return {
    uid: formatUid(manifest),
    type: manifest.type,
    slug: manifest.slug,
    version: manifest.version,
    versionKey: versionKey(manifest.version),
    isPrerelease: isPrerelease(manifest.version),
    name: manifest.name,
    title: manifest.title,
    summary: manifest.summary,
    status: manifest.lifecycle.status,
    quality: qualityScore(manifest),
    publishedAt: manifest.publishedAt,
    sourceUrl: sourceUrl ?? null,
    manifestText: text ?? JSON.stringify(document),
    manifestDigest: jsonDigest(document),
    mcpRegistration: manifest.mcpRegistration,
    isRegistrable:
      registrationFault({ ...manifest, isDisabled: manifest.lifecycle.status === 'disabled' }) === undefined,
    facets: facetsOf(manifest),
    facts: factsOfManifest(manifest, asObject(document)),
  };
}

function facetsOf({ capabilities, frameworks, providers, tags, mcpRegistration }: Manifest): Facets {
  return {
    capability: capabilities,
    framework: frameworks,
    provider: providers,
    tag: tags,
    transport: transportsOf(mcpRegistration),
  };
}

export function presentSummary(entity: StoredSummary, { baseUrl, now }: Presentation): EntitySummary {
  return {
    id: entity.uid,
    uid: entity.uid,
    type: entity.type,
    name: entity.name,
    version: entity.version,
    title: entity.title,
    summary: entity.summary,
    capabilities: entity.facets.capability,
    frameworks: entity.facets.framework,
    providers: entity.facets.provider,
    tags: entity.facets.tag,
    status: entity.status,
    source_url: entity.sourceUrl && shownAddress(entity.sourceUrl),
    manifest_url: manifestUrl(entity, baseUrl),
    gateway_registered_at: entity.gatewayRegisteredAt,
    gateway_error: entity.gatewayError,
    missing_since: entity.missingSince,
    changed_at: entity.changedAt,
    blocked_at: entity.blockedAt,
    blocked_reason: entity.blockedReason,
    remote: entity.ownerUrl && shownAddress(entity.ownerUrl),
    prerelease: entity.isPrerelease,
    score_quality: entity.quality,
    score_recency: recencyScore(entity.publishedAt, now),
    published_at: entity.publishedAt,
    created_at: entity.createdAt,
    updated_at: entity.updatedAt,
  };
}

/** Without `listed_by`, which may change while the entity stays as it is. */
export function presentRecord(
  entity: StoredEntity,
  versions: readonly EntityVersion[],
  presentation: Presentation,
): Omit<EntityRecord, 'listed_by'> {
  const manifest = readManifest(JSON.parse(entity.manifestText));
  return {
    ...presentSummary(entity, presentation),
    description: manifest.description,
    license: manifest.license,
    homepage: manifest.homepage,
    readme: manifest.readme,
    schema_version: manifest.schemaVersion,
    artifacts: manifest.artifacts,
    adapters: manifest.adapters,
    compatibility: manifest.compatibility,
    links: manifest.links,
    lifecycle: manifest.lifecycle,
    provenance: manifest.provenance,
    mcp_registration: entity.mcpRegistration,
    quality: qualitySignals(manifest),
    versions: versions.map(({ uid, version, status, isBlocked, isHidden }) => ({
      id: uid,
      version,
      status,
      prerelease: isPrerelease(version),
      blocked: isBlocked,
      hidden: isHidden,
    })),
  };
}

/** Address of its manifest: its source or, if that needs a secret, the hub itself. */
export function manifestUrl({ uid, sourceUrl }: Pick<Entity, 'uid' | 'sourceUrl'>, baseUrl: string): string {
  const isOpen = sourceUrl !== null && shownAddress(sourceUrl) === sourceUrl;
  return isOpen ? sourceUrl : `${baseUrl}/catalog/manifest/${uidInAddress(uid)}`;
}

/** `:` and `@` stay readable, everything else that an address may not hold is encoded; clients write ids the same way. */
export function uidInAddress(uid: EntityUid): string {
  return encodeURIComponent(uid).replaceAll('%3A', ':').replaceAll('%40', '@');
}
