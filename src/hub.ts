// The hub: one method per endpoint, and the only place that knows which implementation is used for what.
import { z } from 'zod';
import { createCatalog } from './catalog/catalog.ts';
import type { CatalogPage, CatalogQuery, EntityRecord } from './catalog/contract.ts';
import type { ManifestSource } from './catalog/entity.ts';
import type { EntityType } from './catalog/uid.ts';
import type { Config } from './config.ts';
import type { World } from './lib/world.ts';
import { startBackgroundSync } from './remotes/background.ts';
import type {
  IngestReport,
  IngestStatus,
  RejectionPage,
  RejectionQuery,
  RemoteAdded,
  RemoteList,
  RemoteRemoved,
  SyncReport,
} from './remotes/contract.ts';
import { createIndexFetcher } from './remotes/fetch-index.ts';
import { createManifestFetcher } from './remotes/fetch-manifest.ts';
import { createPoliteFetch } from './remotes/polite-fetch.ts';
import { createRemoteBook } from './remotes/remotes.ts';
import { createSync, type ProgressListener } from './remotes/sync.ts';
import { createCatalogStore } from './store/catalog-store.ts';
import { openDatabase } from './store/database.ts';
import { createMemberStore, createRemoteStore, createRunStore } from './store/remote-store.ts';
import { createRevision } from './store/revision.ts';
import { VERSION } from './version.ts';

export interface Hub {
  health(options: { checkDb: boolean }): Promise<Health>;
  config(): PublicConfig;
  listCatalog(query: CatalogQuery): Promise<CatalogPage>;
  getEntity(id: string): Promise<EntityRecord>;
  getManifest(id: string): Promise<{ text: string; digest: string }>;
  listRemotes(): Promise<RemoteList>;
  addRemote(url: string): Promise<RemoteAdded>;
  removeRemote(url: string): Promise<RemoteRemoved>;
  ingest(url?: string, onProgress?: ProgressListener): Promise<IngestReport>;
  syncRemotes(onProgress?: ProgressListener): Promise<SyncReport>;
  ingestStatus(): Promise<IngestStatus>;
  listRejections(query: RejectionQuery): Promise<RejectionPage>;
  countEntities(): Promise<Record<EntityType, number>>;
  /** Puts manifests that come with the hub into its catalog. */
  load(sources: readonly ManifestSource[]): Promise<void>;
  /** Once is enough; again does nothing. */
  close(): Promise<void>;
}

export const Health = z
  .object({
    status: z.enum(['ok', 'error']),
    version: z.string(),
    db: z.enum(['ok', 'error']).optional().describe('Only with `check_db`.'),
  })
  .meta({ id: 'Health' });
export type Health = z.infer<typeof Health>;

export const PublicConfig = z
  .object({
    version: z.string(),
    base_url: z.string(),
    database: z.enum(['sqlite', 'postgres']),
    admin_protected: z.boolean(),
    gateway_configured: z.boolean(),
    max_body_bytes: z.number().int(),
    rate_limit_per_minute: z.number().int(),
    search_profile: z.enum(['general', 'public']),
    search_mode: z.enum(['keyword', 'semantic', 'hybrid']),
    search_rerank: z.enum(['none', 'llm']),
  })
  .meta({ id: 'PublicConfig' });
export type PublicConfig = z.infer<typeof PublicConfig>;

export interface HubDependencies {
  config: Config;
  world: World;
  /** Public address of this hub; asked late, because the port may be known only once it listens. */
  baseUrl: () => string;
}

/** @throws StartError when the database cannot be used. */
export async function createHub({ config, world, baseUrl }: HubDependencies): Promise<Hub> {
  const { now, log, metrics, fetch } = world;
  const database = await openDatabase(config.database, { metrics });
  const revision = createRevision(database);
  const store = createCatalogStore(database, revision);
  const catalog = createCatalog({ store, now, baseUrl });
  let closed: Promise<void> | undefined;
  metrics.gauge({
    name: 'hub_entities',
    help: 'Entities in the catalog.',
    label: 'type',
    read: () => catalog.countByType(),
  });

  const remoteStore = createRemoteStore(database);
  const book = createRemoteBook({ store: remoteStore, seeds: config.seedRemotes, now });
  const runs = createRunStore(database);
  const timeoutMs = config.ingest.requestTimeoutSec * 1000;
  const politeFetch = createPoliteFetch({ fetch, requestsPerHost: config.ingest.requestsPerHost });
  const fetchIndex = createIndexFetcher({ fetch: politeFetch, maxIndexBytes: config.ingest.maxIndexBytes, timeoutMs });
  const sync = createSync({
    book,
    catalog,
    remotes: remoteStore,
    members: createMemberStore(database, revision),
    runs,
    fetchIndex,
    fetchManifest: createManifestFetcher({
      fetch: politeFetch,
      maxManifestBytes: config.ingest.maxManifestBytes,
      timeoutMs,
    }),
    tryLock: database.tryLock,
    timeLimitMs: config.ingest.remoteTimeoutMin * 60_000,
    now,
    log,
  });
  const background =
    config.ingest.intervalMin > 0
      ? startBackgroundSync({
          sync,
          book,
          intervalMs: config.ingest.intervalMin * 60_000,
          now,
          log,
          count: metrics.countBackgroundSync,
        })
      : undefined;

  async function closeAll(): Promise<void> {
    background?.stop();
    await sync.close();
    await fetchIndex.close();
    await database.close();
  }

  return {
    async health({ checkDb }) {
      if (!checkDb) return { status: 'ok', version: VERSION };
      try {
        await store.revision();
        return { status: 'ok', version: VERSION, db: 'ok' };
      } catch (error) {
        log.error({ error }, 'The database does not answer');
        return { status: 'error', version: VERSION, db: 'error' };
      }
    },
    config: () => ({
      version: VERSION,
      base_url: baseUrl(),
      database: config.database.engine,
      admin_protected: config.adminToken !== undefined,
      gateway_configured: config.gateway !== undefined,
      max_body_bytes: config.maxBodyBytes,
      rate_limit_per_minute: config.rateLimitPerMinute,
      search_profile: config.search.profile,
      search_mode: config.search.mode,
      search_rerank: config.search.rerank,
    }),
    listCatalog: (query) => catalog.list(query),
    getEntity: (id) => catalog.get(id),
    getManifest: (id) => catalog.manifest(id),
    listRemotes: () => book.list(),
    addRemote: (url) => book.add(url),
    removeRemote: (url) => book.remove(url),
    ingest: (url, onProgress) => sync.ingest(url, onProgress),
    syncRemotes: (onProgress) => sync.syncRemotes(onProgress),
    ingestStatus: () => sync.status(),
    listRejections: (query) => runs.rejections(query),
    countEntities: () => catalog.countByType(),
    async load(sources) {
      const results = await catalog.saveMany(sources);
      const failure = results.find((result) => !result.ok);
      if (failure && !failure.ok) throw failure.error;
    },
    close() {
      closed ??= closeAll();
      return closed;
    },
  };
}
