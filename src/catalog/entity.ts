// The catalog record: built from a manifest, stored, and shown to callers.
import { HubError } from '../errors.ts';
import { asObject, type JsonObject, parseJson } from '../lib/json.ts';
import { jsonDigest } from '../lib/json-digest.ts';
import { shownAddress } from '../lib/secrets/secret-address.ts';
import type { EntityRecord, EntitySummary, Trust } from './contract.ts';
import { type EntityFacts, factsOfManifest } from './facts.ts';
import { type LifecycleStatus, type Manifest, readManifest } from './manifest.ts';
import { qualityScore, qualitySignals, recencyScore } from './quality.ts';
import { registrationFault } from './server.ts';
import { shownTransport, transportsOf } from './transport.ts';
import { knownTrust } from './trust-signals.ts';
import { type EntityType, type EntityUid, formatUid, parseReference } from './uid.ts';
import { isPrerelease, versionKey } from './version-order.ts';

/** A manifest as received. */
export interface ManifestSource {
  document: unknown;
  /** The JSON text of `document`; stored unchanged, so that even long numbers survive. */
  text?: string;
  /** URL of the manifest. */
  sourceUrl?: string;
}

/** What is stored: the original manifest, and the values that the database sorts and filters by. */
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
  /** Whether a gateway could register it with this manifest. */
  isRegistrable: boolean;
  facets: Facets;
  /** More facts, for rules. */
  facts: EntityFacts;
}

const FACETS = ['capability', 'framework', 'provider', 'tag', 'transport'] as const;
export type Facets = Record<(typeof FACETS)[number], string[]>;

export interface StoredEntity extends Entity {
  createdAt: string;
  updatedAt: string;
  gatewayRegisteredAt: string | null;
  gatewayError: string | null;
  /** When the last remote stopped listing it. */
  missingSince: string | null;
  missingReason: string | null;
  /** When the content of this version last changed after it was first published. */
  changedAt: string | null;
  blockedAt: string | null;
  blockedReason: string | null;
  /** URL of the remote that owns it. */
  ownerUrl: string | null;
  /** URL of the remote that its content comes from; null if the manifest was sent with an install. */
  contentFrom: string | null;
  /** Excluded from searches and lists by the policy. */
  isHidden: boolean;
  /** Kept out of the gateway by the policy or by its remote's settings. */
  isHeld: boolean;
  needsApproval: boolean;
  /** Null if its current content has not been checked. */
  trust: Trust | null;
}

/** What a list shows: excludes the manifest, which may be a megabyte long. */
export type StoredSummary = Omit<StoredEntity, 'manifestText' | 'manifestDigest' | 'mcpRegistration'>;

export interface EntityVersion {
  uid: EntityUid;
  version: string;
  status: LifecycleStatus;
  isBlocked: boolean;
  isHidden: boolean;
  isMissing: boolean;
}

/** What rendering an entity requires in addition to the entity. */
export interface Presentation {
  baseUrl: string;
  now: Date;
  /** URLs of remotes that verify who owns a namespace. */
  verifyingRemotes: readonly string[];
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

/** An entity as text, which crosses threads much faster than an object. */
export interface EntityText {
  /** JSON of everything except the text of the manifest, which may be very long. */
  fields: string;
  manifestText: string;
}

export function textOfEntity({ manifestText, ...fields }: Entity): EntityText {
  return { fields: JSON.stringify(fields), manifestText };
}

export function entityOfText({ fields, manifestText }: EntityText): Entity {
  return { ...JSON.parse(fields), manifestText };
}

function facetsOf({ capabilities, frameworks, providers, tags, mcpRegistration }: Manifest): Facets {
  return {
    capability: capabilities,
    framework: frameworks,
    provider: providers,
    tag: tags,
    transport: transportsOf(mcpRegistration).map(shownTransport),
  };
}

export function presentSummary(
  entity: StoredSummary,
  { baseUrl, now }: Omit<Presentation, 'verifyingRemotes'>,
): EntitySummary {
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
    missing_reason: entity.missingReason,
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

/** Excludes what may change while the entity does not. */
export function presentRecord(
  entity: StoredEntity,
  versions: EntityRecord['versions'],
  presentation: Presentation,
): Omit<EntityRecord, 'listed_by' | 'remote_name'> {
  const readable = storedManifest(entity);
  const manifest = readable ?? EMPTY;
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
    lifecycle: { ...manifest.lifecycle, status: entity.status },
    provenance: manifest.provenance,
    mcp_registration: entity.mcpRegistration,
    quality: readable ? qualitySignals(readable) : [],
    versions,
    trust: knownTrust(entity, presentation.verifyingRemotes),
  };
}

/** Undefined for a manifest that the current rules no longer accept: then only the columns are shown. */
function storedManifest({ manifestText }: StoredEntity): Manifest | undefined {
  try {
    return readManifest(parseJson(manifestText));
  } catch (error) {
    if (error instanceof HubError) return undefined;
    throw error;
  }
}

const EMPTY = readManifest({ type: 'tool', id: 'empty', version: '1.0.0' });

export function presentVersions(versions: readonly EntityVersion[]): EntityRecord['versions'] {
  return versions.map(({ uid, version, status, isBlocked, isHidden, isMissing }) => ({
    id: uid,
    version,
    status,
    prerelease: isPrerelease(version),
    blocked: isBlocked,
    hidden: isHidden,
    missing: isMissing,
  }));
}

/** URL of its manifest: the source or, if that needs a secret, the hub. */
export function manifestUrl({ uid, sourceUrl }: Pick<Entity, 'uid' | 'sourceUrl'>, baseUrl: string): string {
  const isOpen = sourceUrl !== null && shownAddress(sourceUrl) === sourceUrl;
  return isOpen ? sourceUrl : `${baseUrl}/catalog/manifest/${uidInAddress(uid)}`;
}

export function isEarlierVersion(uid: EntityUid, than: EntityUid): boolean {
  const [one = '', other = ''] = [uid, than].map((each) => versionKey(parseReference(each)?.version ?? ''));
  return one < other;
}

/** Keeps `:` and `@` readable and encodes everything else; clients write ids the same way. */
export function uidInAddress(uid: EntityUid): string {
  return uid.replace(/[^\w\-.:@]+/g, encodeURIComponent);
}
