// The engine that searches in PostgreSQL, on a separate database with pgvector.
import { randomBytes } from 'node:crypto';
import { after, type TestContext, test } from 'node:test';
import pg from 'pg';
import { createCatalog } from '../../../src/catalog/catalog.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import type { ListRequest, RankRequest } from '../../../src/search/engine/engine.ts';
import type { Embedder } from '../../../src/search/model/embedder.ts';
import { createPostgresEngine } from '../../../src/search/postgres/engine.ts';
import { createCatalogStore } from '../../../src/store/catalog/catalog-store.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { createRegistrationStore } from '../../../src/store/gateway/registration-store.ts';
import { createRevision } from '../../../src/store/revision.ts';
import { openPostgresSearch } from '../../../src/store/search/postgres-search.ts';
import { pgvectorFiles } from '../../support/databases/pgvector.ts';
import { startPostgres } from '../../support/databases/postgres-server.ts';
import { caughtUp } from '../../support/search/caught-up.ts';
import { testWorld } from '../../support/world.ts';
import { ANY, threeSubjects } from '../search-stage.ts';

let server: ReturnType<typeof startPostgres> | undefined;
after(async () => (await server)?.stop());

/** Declares a test with the address of an empty database on a server that has pgvector. */
export function testWithPgvector(name: string, run: (t: TestContext, url: string) => Promise<void>): void {
  test(name, async (t) => {
    const pgvector = await pgvectorFiles();
    if (!pgvector && !process.env.CI) return t.skip('*** no pgvector: npm run install:pgvector ***');
    server ??= startPostgres({ pgvector });
    const database = `hub_test_${randomBytes(6).toString('hex')}`;
    const url = new URL((await server).url);
    await statement(url.href, `create database ${database}`);
    url.pathname = database;
    await run(t, url.href);
  });
}

export async function statement(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text).finally(() => client.end());
}

export function asks(text: string, fields: Partial<RankRequest> = {}): RankRequest {
  return {
    text,
    filters: ANY,
    mode: 'hybrid',
    versions: 'latest',
    sort: 'relevance',
    explain: false,
    limit: 50,
    withFacets: false,
    ...fields,
  };
}

export async function postgresStage(
  t: TestContext,
  url: string,
  openEmbedder: () => Promise<Embedder> = async () => threeSubjects(),
) {
  const world = testWorld();
  const metrics = createMetrics();
  const address = { engine: 'postgres', url, poolSize: 5 } as const;
  const database = await openDatabase(address, { metrics });
  const revision = createRevision(database);
  const catalog = createCatalog({
    store: createCatalogStore(database, revision),
    now: world.now,
    baseUrl: () => '',
    verifyingRemotes: [],
  });
  const search = await openPostgresSearch(database, address, { revision, metrics });
  const { now, log } = world;
  const engine = createPostgresEngine({ ...search, tryLock: database.tryLock, openEmbedder, now, log });
  t.after(async () => {
    await engine.close();
    await search.close();
    await database.close();
    await world.close();
  });
  return {
    engine,
    registrations: createRegistrationStore(database, revision),
    async save(...manifests: JsonObject[]) {
      await catalog.saveMany(manifests.map((document) => ({ document })));
    },
    catchUp: () => engine.catchUp(AbortSignal.timeout(300_000)),
    list: (request: ListRequest) => caughtUp(() => engine.list(request)),
    async find(text: string, fields: Partial<RankRequest> = {}): Promise<string[]> {
      return (await caughtUp(() => engine.rank(asks(text, fields)))).hits.map(({ uid }) => uid);
    },
  };
}
