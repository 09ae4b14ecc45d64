// The catalog: the only way in for manifests, and the way out for entities.
import { LRUCache } from 'lru-cache';
import { HubError } from '../errors.ts';
import type { Clock } from '../lib/world.ts';
import type { CatalogPage, CatalogQuery, EntityRecord } from './contract.ts';
import {
  type Entity,
  entityFromManifest,
  type ManifestSource,
  presentRecord,
  presentSummary,
  type StoredEntity,
} from './entity.ts';
import type { CatalogStore, SaveOutcome } from './store.ts';
import { type EntityType, type EntityUid, parseReference } from './uid.ts';

type SaveResult = { ok: true; uid: EntityUid; outcome: SaveOutcome } | { ok: false; error: HubError };

export interface Catalog {
  /** Of a manifest that no remote brought; the next sync puts that of a remote in its place. @throws HubError `invalid_manifest` */
  save(source: ManifestSource): Promise<{ uid: EntityUid; outcome: SaveOutcome }>;
  /**
   * A bad manifest costs no other its place. When one uid occurs twice, the last one is stored and the
   * earlier ones count as unchanged.
   */
  saveMany(sources: readonly ManifestSource[]): Promise<SaveResult[]>;
  /** Uids may repeat, as above. */
  saveEntities(entities: readonly Entity[]): Promise<SaveOutcome[]>;
  /** Writes again what an older version of the hub mapped differently; answers how many. */
  refreshOutdated(signal: AbortSignal): Promise<number>;
  /** @throws HubError `entity_not_found` */
  get(id: string): Promise<EntityRecord>;
  /** The stored JSON text, with the digest of what it means. */
  manifest(id: string): Promise<{ text: string; digest: string }>;
  list(query: CatalogQuery): Promise<CatalogPage>;
  countByType(): Promise<Record<EntityType, number>>;
}

export interface CatalogDependencies {
  store: CatalogStore;
  now: Clock;
  /** A function, because the address is known only once the hub listens. */
  baseUrl: () => string;
}

/** About the bytes of the records that are kept in memory, and of one line of their list of versions. */
const RECORDS_SIZE = 32_000_000;
const VERSION_SIZE = 100;
const REFRESH_BATCH = 100;
const RECORDS_TTL_MS = 600_000;

export function createCatalog({ store, now, baseUrl }: CatalogDependencies): Catalog {
  // A record holds how recent the entity is, so that it must not be kept for ever.
  const records = new LRUCache<string, { revision: number; record: EntityRecord }>({
    maxSize: RECORDS_SIZE,
    ttl: RECORDS_TTL_MS,
  });
  const loads = new Map<string, Promise<EntityRecord>>();
  const presentation = () => ({ baseUrl: baseUrl(), now: now() });

  async function find(id: string): Promise<StoredEntity> {
    const reference = parseReference(id);
    const entity = reference && (await store.get(reference));
    if (!entity) throw new HubError('entity_not_found', `No entity '${shortened(id)}' is in the catalog.`);
    return entity;
  }

  async function load(id: string, revision: number): Promise<EntityRecord> {
    const entity = await find(id);
    const record = presentRecord(entity, await store.versions(entity.type, entity.name), presentation());
    records.set(id, { revision, record }, { size: entity.manifestText.length + record.versions.length * VERSION_SIZE });
    return record;
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

    saveEntities,

    async refreshOutdated(signal) {
      for (let refreshed = 0; ; ) {
        const outdated = signal.aborted ? [] : await store.outdated(REFRESH_BATCH);
        if (outdated.length === 0) return refreshed;
        await saveEntities(
          outdated.map(({ manifestText, sourceUrl }) =>
            entityFromManifest({
              document: JSON.parse(manifestText),
              text: manifestText,
              sourceUrl: sourceUrl ?? undefined,
            }),
          ),
        );
        refreshed += outdated.length;
      }
    },

    async get(id) {
      const revision = await store.revision();
      const known = records.get(id);
      if (known?.revision === revision) return known.record;
      // Many who ask for the same entity at once cost one read.
      const key = `${revision} ${id}`;
      const loading = loads.get(key) ?? load(id, revision).finally(() => loads.delete(key));
      loads.set(key, loading);
      return loading;
    },

    async manifest(id) {
      const { manifestText, manifestDigest } = await find(id);
      return { text: manifestText, digest: manifestDigest };
    },

    async list(query) {
      const { entities, total } = await store.list(query);
      const shown = presentation();
      const items = entities.map((entity) => presentSummary(entity, shown));
      return { items, total, limit: query.limit, offset: query.offset };
    },

    countByType: () => store.countByType(),
  };
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
