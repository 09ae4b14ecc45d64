// Search over a separate catalog, with an engine that counts words and optionally a language model.
import type { TestContext } from 'node:test';
import { createCatalog } from '../../../src/catalog/catalog.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { SearchQuery } from '../../../src/search/contract.ts';
import type { ListRequest, RankRequest } from '../../../src/search/engine/engine.ts';
import { createSearch, type SearchSettings } from '../../../src/search/search.ts';
import { createCatalogStore } from '../../../src/store/catalog/catalog-store.ts';
import { createRevision } from '../../../src/store/revision.ts';
import { createSearchIndex } from '../../../src/store/search/search-index.ts';
import { createSearchStore } from '../../../src/store/search/search-store.ts';
import { emptyDatabase, openHere } from '../databases/databases.ts';
import { type LlmServer, startLlm } from '../servers/llm-server.ts';
import { testWorld } from '../world.ts';
import { listerOf, withFacets } from './lister.ts';
import { wordEngine } from './word-engine.ts';

export const NO_FILTERS = {
  capabilities: [],
  frameworks: [],
  providers: [],
  transports: [],
  includeInactive: false,
  includePending: true,
  prerelease: false,
};

export function aQuery(fields: Partial<SearchQuery> = {}): SearchQuery {
  return {
    text: '',
    filters: NO_FILTERS,
    sort: 'relevance',
    offset: 0,
    withFitReason: false,
    withSnippets: false,
    withFacets: false,
    explain: false,
    ...fields,
  };
}

interface SearchOptions {
  manifests?: JsonObject[];
  settings?: Partial<SearchSettings>;
  withLlm?: boolean;
}

/** A catalog on SQLite, and an engine that finds its entities by the words of their names and texts. */
export async function testSearch(t: TestContext, { manifests = [], settings = {}, withLlm }: SearchOptions = {}) {
  const world = testWorld();
  const dialect = await openHere(await emptyDatabase(t, 'sqlite'));
  t.after(async () => {
    await dialect.close();
    await world.close();
  });
  const revision = createRevision(dialect);
  const baseUrl = () => 'https://hub.example';
  const catalog = createCatalog({
    store: createCatalogStore(dialect, revision),
    now: world.now,
    baseUrl,
    verifyingRemotes: [],
  });
  const save = (documents: JsonObject[]) => catalog.saveMany(documents.map((document) => ({ document })));
  await save(manifests);
  const findable = manifests
    .filter(({ lifecycle }) => lifecycle === undefined)
    .map(({ type, id, version, summary, description }) => ({
      uid: `${type}:${id}@${version}`,
      text: `${id} ${summary} ${description}`,
    }));
  const index = createSearchIndex(dialect, revision);
  const words = wordEngine(findable);
  const { rank } = words;
  const engine = Object.assign(words, {
    findable,
    rank: async (request: RankRequest) => withFacets(await rank(request), request, index),
    list: async (request: ListRequest) => ({ ...(await listerOf(index))(request), isLasting: true }),
  });
  const llm: LlmServer | undefined = withLlm ? await startLlm(t) : undefined;
  const store = createSearchStore(dialect, revision);
  const search = createSearch({
    engine,
    store,
    llm: llm && { baseUrl: llm.baseUrl, model: 'large', timeoutMs: 60_000 },
    settings: { profile: 'general', mode: 'hybrid', rerank: 'none', ...settings },
    world,
    baseUrl,
  });
  return { search, engine, world, save, llm };
}
