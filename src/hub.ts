// The hub: one method per endpoint, and the only place that knows which implementation is used for what.
import { z } from 'zod';
import { createCatalog } from './catalog/catalog.ts';
import type { CatalogPage, CatalogQuery, EntityRecord } from './catalog/contract.ts';
import type { ManifestSource } from './catalog/entity.ts';
import type { EntityType } from './catalog/uid.ts';
import type { Config } from './config.ts';
import type { World } from './lib/world.ts';
import { createCatalogStore } from './store/catalog-store.ts';
import { openDatabase } from './store/database.ts';
import { createRevision } from './store/revision.ts';
import { VERSION } from './version.ts';

export interface Hub {
  health(options: { checkDb: boolean }): Promise<Health>;
  config(): PublicConfig;
  listCatalog(query: CatalogQuery): Promise<CatalogPage>;
  getEntity(id: string): Promise<EntityRecord>;
  getManifest(id: string): Promise<{ text: string; digest: string }>;
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
  const { now, log, metrics } = world;
  const database = await openDatabase(config.database, { metrics });
  const store = createCatalogStore(database, createRevision(database));
  const catalog = createCatalog({ store, now, baseUrl });
  let closed: Promise<void> | undefined;
  metrics.gauge({
    name: 'hub_entities',
    help: 'Entities in the catalog.',
    label: 'type',
    read: () => catalog.countByType(),
  });

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
    countEntities: () => catalog.countByType(),
    async load(sources) {
      const results = await catalog.saveMany(sources);
      const failure = results.find((result) => !result.ok);
      if (failure && !failure.ok) throw failure.error;
    },
    close() {
      closed ??= database.close();
      return closed;
    },
  };
}
