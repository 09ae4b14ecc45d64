// Sets up search: the model, and the engine in memory or in PostgreSQL.
import type { Catalog } from '../../catalog/catalog.ts';
import type { Config } from '../../config.ts';
import type { World } from '../../lib/world.ts';
import { createSearchEngine } from '../../search/engine/create-engine.ts';
import type { SearchEngine } from '../../search/engine/engine.ts';
import { openEmbeddedModel } from '../../search/model/embedded-model.ts';
import type { OpenEmbedder } from '../../search/model/lazy-embedder.ts';
import { MODELS_FOLDER } from '../../search/model/open-model.ts';
import { createPostgresEngine } from '../../search/postgres/engine.ts';
import { createSearch } from '../../search/search.ts';
import type { Dialect } from '../../store/dialects/dialect.ts';
import type { Revision } from '../../store/revision.ts';
import { hasPgvector, openPostgresSearch } from '../../store/search/postgres-search.ts';
import { createSearchIndex } from '../../store/search/search-index.ts';
import { createSearchStore } from '../../store/search/search-store.ts';

export interface OpenSearchDependencies {
  config: Config;
  world: World;
  baseUrl: () => string;
  database: Dialect;
  revision: Revision;
  catalog: Pick<Catalog, 'countByType'>;
  /** Replaces the built-in model. */
  openEmbedder?: OpenEmbedder | undefined;
  /** Whether the index should pause following the catalog. */
  isBusy: () => boolean;
}

export async function openSearch({
  config,
  world,
  baseUrl,
  database,
  revision,
  catalog,
  isBusy,
  openEmbedder: openBuiltIn = (signal) => openEmbeddedModel({ folder: MODELS_FOLDER, signal }, world.log),
}: OpenSearchDependencies) {
  const { now, log, metrics } = world;
  const { embedding } = config;
  const openEmbedder = async (signal: AbortSignal) => {
    if (!embedding) return openBuiltIn(signal);
    const { createHttpEmbedder } = await import('../../search/model/http-embedder.ts');
    return createHttpEmbedder({ ...embedding, fetch: world.fetchTrusted });
  };
  const shared = { tryLock: database.tryLock, openEmbedder, now, log };
  const inDatabase = (await isSearchedInDatabase(config, database, catalog))
    ? await openPostgresSearch(database, config.database as PostgresAddress, { revision, metrics })
    : undefined;
  const engine: SearchEngine = inDatabase
    ? createPostgresEngine({ ...inDatabase, ...shared })
    : createSearchEngine({
        index: createSearchIndex(database, revision),
        indexPath: config.search.indexPath,
        modelFolder: embedding ? undefined : MODELS_FOLDER,
        isBusy,
        ...shared,
      });
  metrics.gauge({
    name: 'hub_search_index',
    help: 'What search has indexed: entities, families (entities of one type and name), texts, and texts that have no vector yet.',
    label: 'of',
    read: async () => {
      const { entities, families, texts, embedded } = engine.sizes();
      return { entities, families, texts, texts_without_vector: texts - embedded };
    },
  });
  const search = createSearch({
    engine,
    store: createSearchStore(database, revision),
    settings: config.search,
    llm: config.llm,
    world,
    baseUrl,
  });
  async function close(): Promise<void> {
    await engine.close();
    await inDatabase?.close();
  }
  return { search, engine, close };
}

type PostgresAddress = Extract<Config['database'], { engine: 'postgres' }>;

/** Decided at startup. */
async function isSearchedInDatabase(
  { database: { engine }, search: { backend, memoryMaxEntities } }: Config,
  database: Dialect,
  catalog: Pick<Catalog, 'countByType'>,
): Promise<boolean> {
  if (engine !== 'postgres' || backend === 'memory') return false;
  if (backend === 'postgres') return true;
  const counts = Object.values(await catalog.countByType());
  return counts.reduce((sum, count) => sum + count, 0) > memoryMaxEntities && hasPgvector(database);
}
