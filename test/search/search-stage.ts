// An engine on a real database with its dependencies, for one test.
import type { TestContext } from 'node:test';
import { createCatalog } from '../../src/catalog/catalog.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import type { DatabaseAddress } from '../../src/lib/net/address.ts';
import type { SearchFilters, SearchMode } from '../../src/search/contract.ts';
import { createSearchEngine } from '../../src/search/engine/create-engine.ts';
import type { RankRequest } from '../../src/search/engine/engine.ts';
import type { Embedder } from '../../src/search/model/embedder.ts';
import { createCatalogStore } from '../../src/store/catalog/catalog-store.ts';
import { createRegistrationStore } from '../../src/store/gateway/registration-store.ts';
import { createRevision } from '../../src/store/revision.ts';
import { createSearchIndex } from '../../src/store/search/search-index.ts';
import { openHere } from '../support/databases/databases.ts';
import { caughtUp } from '../support/search/caught-up.ts';
import { type TestWorld, testWorld } from '../support/world.ts';

export const ANY: SearchFilters = {
  capabilities: [],
  frameworks: [],
  providers: [],
  transports: [],
  includeInactive: false,
  includePending: true,
  prerelease: false,
};

export function asks(text: string, fields: Partial<RankRequest> = {}): RankRequest {
  return {
    text,
    filters: ANY,
    mode: 'hybrid',
    versions: 'latest',
    sort: 'relevance',
    explain: false,
    limit: 500,
    withFacets: false,
    ...fields,
  };
}

/** An embedder that knows three subjects, and counts its calls. */
export function threeSubjects(model = 'three-subjects'): Embedder & { texts: string[] } {
  const texts: string[] = [];
  const subjects = [/pdf|document|paper|page/i, /weather|rain|frost|umbrella/i, /music|song|melody/i];
  return {
    model,
    texts,
    batchSize: 4,
    async embed(asked) {
      texts.push(...asked);
      return asked.map((text) => {
        const vector = Float32Array.from([...subjects.map((subject) => (subject.test(text) ? 1 : 0)), 0.1]);
        const length = Math.hypot(...vector);
        return vector.map((value) => value / length);
      });
    },
    async close() {},
  };
}

export interface StageOptions {
  address: DatabaseAddress;
  openEmbedder?: (signal: AbortSignal) => Promise<Embedder>;
  isBusy?: () => boolean;
  indexPath?: string;
  world?: TestWorld;
}

export async function searchStage(t: TestContext, options: StageOptions) {
  const { address, openEmbedder = async () => threeSubjects(), isBusy, indexPath, world = testWorld() } = options;
  const database = await openHere(address);
  const revision = createRevision(database);
  const catalog = createCatalog({
    store: createCatalogStore(database, revision),
    now: world.now,
    baseUrl: () => '',
    verifyingRemotes: [],
  });
  const index = createSearchIndex(database, revision);
  const engine = createSearchEngine({
    index,
    tryLock: database.tryLock,
    openEmbedder,
    isBusy,
    indexPath,
    now: world.now,
    log: world.log,
  });
  t.after(async () => {
    await engine.close();
    await database.close();
    await world.close();
  });
  return {
    engine,
    index,
    world,
    registrations: createRegistrationStore(database, revision),
    async save(...manifests: JsonObject[]) {
      await catalog.saveMany(manifests.map((document) => ({ document })));
    },
    catchUp: () => engine.catchUp(AbortSignal.timeout(300_000)),
    async find(text: string, fields: Partial<RankRequest> & { mode?: SearchMode } = {}): Promise<string[]> {
      return (await caughtUp(() => engine.rank(asks(text, fields)))).hits.map(({ uid }) => uid);
    },
  };
}
