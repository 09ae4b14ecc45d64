// The catalog: saves manifests and returns entities. An ingest saves its own, together with what the remote lists.
import { HubError, invalidRequest } from '../errors.ts';
import { storableText } from '../lib/json.ts';
import { createRevisionCache, type RevisionCache } from '../lib/revision-cache.ts';
import { shownAddress } from '../lib/secrets/secret-address.ts';
import type { Clock } from '../lib/world.ts';
import type { CatalogPage, CatalogQuery, EntityRecord, EntityRemoved, VersionOptions } from './contract.ts';
import {
  type Entity,
  entityFromManifest,
  type ManifestSource,
  presentRecord,
  presentSummary,
  presentVersions,
  type StoredEntity,
} from './entity.ts';
import type {
  CatalogStore,
  OutdatedEntity,
  PublishedEntity,
  PublishOptions,
  PublishOutcome,
  SaveOutcome,
} from './store.ts';
import { type EntityType, type EntityUid, parseReference } from './uid.ts';

type SaveResult = { ok: true; uid: EntityUid; outcome: SaveOutcome } | { ok: false; error: HubError };

export interface Catalog {
  /** Saves a manifest that no remote published; the owning remote's next sync replaces it. @throws HubError `invalid_manifest` */
  save(source: ManifestSource): Promise<{ uid: EntityUid; outcome: SaveOutcome }>;
  /**
   * An invalid manifest does not affect the others. If a uid occurs twice, the last manifest is stored and the earlier ones
   * count as unchanged.
   */
  saveMany(sources: readonly ManifestSource[]): Promise<SaveResult[]>;
  /** Saves what a remote publishes; uids must be distinct. Entities of other remotes do not change. */
  publish(remote: string, published: readonly PublishedEntity[], options?: PublishOptions): Promise<PublishOutcome[]>;
  /**
   * Rewrites rows that an older hub mapped differently; returns how many. A stored manifest that the current rules refuse is
   * left unchanged.
   */
  refreshOutdated(signal: AbortSignal, onRefused: (uid: string, error: unknown) => void): Promise<number>;
  /** @throws HubError `entity_not_found` */
  get(id: string, options?: VersionOptions): Promise<EntityRecord>;
  /** The stored JSON text and its semantic digest. */
  manifest(id: string, options?: VersionOptions): Promise<{ text: string; digest: string }>;
  /** @throws HubError `invalid_request`, `entity_not_found`, `entity_blocked` */
  remove(uid: EntityUid): Promise<EntityRemoved>;
  /** @throws HubError `invalid_request`, `entity_not_found` */
  block(uid: EntityUid, reason?: string): Promise<EntityRecord>;
  /** @throws HubError `invalid_request`, `entity_not_found` */
  unblock(uid: EntityUid): Promise<EntityRecord>;
  list(query: CatalogQuery): Promise<CatalogPage>;
  countByType(): Promise<Record<EntityType, number>>;
}

export interface CatalogDependencies {
  store: CatalogStore;
  now: Clock;
  /** A function, because the address is known only once the hub is listening. */
  baseUrl: () => string;
  /** URLs of remotes that verify who owns a namespace. */
  verifyingRemotes: readonly string[];
}

/** Approximate bytes of cached records and lists of versions, and of one entry in such a list with its JSON. */
const RECORDS_SIZE = 12_000_000;
const VERSIONS_SIZE = 20_000_000;
const VERSION_SIZE = 330;
const REFRESH_BATCH = 100;
const RECORDS_TTL_MS = 600_000;

export function createCatalog({ store, now, baseUrl, verifyingRemotes }: CatalogDependencies): Catalog {
  // A record contains the recency score, so it must not be cached forever.
  const recordsAt = createRevisionCache<CachedRecord>({ maxSize: RECORDS_SIZE, ttl: RECORDS_TTL_MS });
  const versionsAt = createRevisionCache<PresentedVersions>({ maxSize: VERSIONS_SIZE });
  const loads = new Map<string, Promise<CachedRecord>>();
  const presentation = () => ({ baseUrl: baseUrl(), now: now(), verifyingRemotes });

  async function find(id: string, options: VersionOptions): Promise<StoredEntity> {
    const reference = parseReference(id);
    const entity = reference && (await store.get(reference, options));
    if (!entity) throw notFound(id);
    return entity;
  }

  /** Shared by the records of all versions of a name. */
  async function versionsOf({ type, name }: StoredEntity, { versions: cache }: Caches): Promise<PresentedVersions> {
    const key = `${type} ${name}`;
    const known = cache.get(key);
    if (known) return known;
    const versions = presentVersions(await store.versions(type, name));
    cache.set(key, versions, { size: key.length + (versions.length + 1) * VERSION_SIZE });
    return versions;
  }

  async function load(id: string, options: VersionOptions, caches: Caches): Promise<CachedRecord> {
    const entity = await find(id, options);
    const record = presentRecord(entity, await versionsOf(entity, caches), presentation());
    // A record keeps its list of versions in memory, even after the list was evicted from its own cache.
    const size = entity.manifestText.length + record.versions.length * VERSION_SIZE;
    caches.records.set(recordKey(id, options), record, { size });
    return record;
  }

  async function cachedRecord(id: string, options: VersionOptions): Promise<CachedRecord> {
    const revision = await store.revision();
    const key = recordKey(id, options);
    const caches = { records: recordsAt(revision), versions: versionsAt(revision) };
    const known = caches.records.get(key);
    if (known) return known;
    // Concurrent requests for the same entity share one read.
    const loadKey = `${revision} ${key}`;
    const loading = loads.get(loadKey) ?? load(id, options, caches).finally(() => loads.delete(loadKey));
    loads.set(loadKey, loading);
    return loading;
  }

  async function get(id: string, options: VersionOptions = {}): Promise<EntityRecord> {
    const record = await cachedRecord(id, options);
    const remotes = await store.listedBy(record.uid);
    const [first] = remotes;
    const owner = first?.isOwner ? first : undefined;
    return { ...record, listed_by: remotes.map(({ url }) => shownAddress(url)), remote_name: owner?.name ?? null };
  }

  async function setBlock(
    uid: EntityUid,
    block: { at: Date; reason: string | null } | undefined,
  ): Promise<EntityRecord> {
    assertVersion(uid);
    if (!(await store.setBlock(uid, block))) throw notFound(uid);
    return get(uid);
  }

  async function saveEntities(entities: readonly Entity[]): Promise<SaveOutcome[]> {
    const lastOfEach = [...new Map(entities.map((entity) => [entity.uid, entity])).values()];
    const outcomes = new Map(zip(lastOfEach, await store.save(lastOfEach, now())));
    return entities.map((entity) => outcomes.get(entity) ?? 'unchanged');
  }

  return {
    async save(source) {
      const entity = entityFromManifest(source);
      return { uid: entity.uid, outcome: await store.saveInline(entity, now()) };
    },

    async saveMany(sources) {
      const read = sources.map(readSource);
      const entities = read.filter((each): each is Entity => !(each instanceof HubError));
      const outcomes = new Map(zip(entities, await saveEntities(entities)));
      return read.map((each) =>
        each instanceof HubError
          ? { ok: false, error: each }
          : { ok: true, uid: each.uid, outcome: outcomes.get(each) ?? 'unchanged' },
      );
    },

    publish: (remote, published, options) => store.publish(remote, published, now(), options),

    async refreshOutdated(signal, onRefused) {
      for (let refreshed = 0, after = ''; ; ) {
        const outdated = signal.aborted ? [] : await store.outdated({ after, limit: REFRESH_BATCH });
        const readable = outdated.flatMap((entity) => readOutdated(entity, onRefused));
        if (readable.length > 0) await saveEntities(readable);
        refreshed += readable.length;
        const last = outdated.at(-1);
        if (last === undefined) return refreshed;
        after = last.uid;
      }
    },

    get,

    async manifest(id, options = {}) {
      const { manifestText, manifestDigest } = await find(id, options);
      return { text: manifestText, digest: manifestDigest };
    },

    async remove(uid) {
      assertVersion(uid);
      const listedBy = await store.listedBy(uid);
      if (!(await store.remove(uid))) {
        await find(uid, {});
        throw blocked(uid);
      }
      return { removed: true, uid, listed_by: listedBy.map(({ url }) => shownAddress(url)) };
    },

    block: (uid, reason = '') => setBlock(uid, { at: now(), reason: storableText(reason).trim() || null }),
    unblock: (uid) => setBlock(uid, undefined),

    async list(query) {
      const { entities, total } = await store.list(query);
      const shown = presentation();
      const items = entities.map((entity) => presentSummary(entity, shown));
      return { items, total, limit: query.limit, offset: query.offset };
    },

    countByType: () => store.countByType(),
  };
}

function readOutdated(
  { uid, manifestText, sourceUrl }: OutdatedEntity,
  onRefused: (uid: string, error: unknown) => void,
): Entity[] {
  try {
    const document = JSON.parse(manifestText);
    return [entityFromManifest({ document, text: manifestText, sourceUrl: sourceUrl ?? undefined })];
  } catch (error) {
    onRefused(uid, error);
    return [];
  }
}

type CachedRecord = ReturnType<typeof presentRecord>;
type PresentedVersions = EntityRecord['versions'];

/** Taken before the first read: what a change overtakes then goes into caches that are no longer used. */
interface Caches {
  records: ReturnType<RevisionCache<CachedRecord>>;
  versions: ReturnType<RevisionCache<PresentedVersions>>;
}

function recordKey(id: string, { prerelease = false }: VersionOptions): string {
  return prerelease ? `${id} prerelease` : id;
}

/** Changes require an explicit version, because the newest version may change at any moment. */
function assertVersion(uid: string): void {
  const reference = parseReference(uid);
  if (reference && reference.version === undefined) {
    const message = `'${shortened(uid)}' has no version: use the full id, <type>:<slug>@<version>`;
    throw invalidRequest('id', message);
  }
  if (!reference) throw notFound(uid);
}

function notFound(id: string): HubError {
  return new HubError('entity_not_found', `No entity '${shortened(id)}' is in the catalog.`);
}

function blocked(uid: string): HubError {
  return new HubError(
    'entity_blocked',
    `'${shortened(uid)}' is blocked, so it is kept in the catalog: if it were removed, the next ingest could restore it without the block. To remove it, unblock it first.`,
  );
}

function readSource(source: ManifestSource): Entity | HubError {
  try {
    return entityFromManifest(source);
  } catch (error) {
    if (error instanceof HubError) return error;
    throw error;
  }
}

function zip<A, B>(left: readonly A[], right: readonly B[]): [A, B][] {
  return left.map((each, index) => [each, right[index] as B]);
}

function shortened(id: string): string {
  return id.length > 120 ? `${id.slice(0, 120)}…` : id;
}
