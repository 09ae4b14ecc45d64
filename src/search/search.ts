// The search use case: lists or ranks, reranks if requested, then loads only the requested page.
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { World } from '../lib/world.ts';
import type { Rerank, SearchMode, SearchPage, SearchQuery, TaggedPage } from './contract.ts';
import { type Hit, MOST_HITS, type Ranking, type SearchEngine } from './engine/engine.ts';
import { createLlmClient, type LlmDependencies } from './llm/llm-client.ts';
import { createLlmFitReasons } from './llm/llm-fit-reasons.ts';
import { createReranker, MOST_RERANKED } from './llm/reranker.ts';
import { loadEntities, presentHits } from './present.ts';
import { isOfNamed } from './ranking/merge.ts';
import { createRankingCache } from './ranking-cache.ts';
import { plainText } from './search-query.ts';
import type { SearchStore } from './store.ts';

export interface Search {
  search(query: SearchQuery): Promise<SearchPage>;
  /** For callers that cache responses: if the tag is known, no search is run. */
  searchUnlessKnown(query: SearchQuery, isKnown: (tag: string) => boolean): Promise<TaggedPage>;
}

export interface SearchSettings {
  profile: keyof typeof PROFILES;
  mode: SearchMode;
  rerank: Rerank;
}

export interface SearchDependencies {
  engine: Pick<SearchEngine, 'rank' | 'list' | 'version'>;
  store: SearchStore;
  llm?: LlmDependencies['endpoint'];
  settings: SearchSettings;
  world: Pick<World, 'now' | 'log' | 'fetchTrusted'>;
  baseUrl: () => string;
}

const PROFILES = { general: { usual: 20, most: 100 }, public: { usual: 5, most: 5 } };
/** Total entries of all cached lists. */
const ENTRIES_KEPT = 1_000;
/** Hits are ranked in steps of this size, so that the next page needs no search; reranking needs the first step. */
const RANKED_AT_ONCE = MOST_RERANKED;

export function createSearch(dependencies: SearchDependencies): Search {
  const parts = partsOf(dependencies);
  /** Every page load requests the same list; the tag covers everything that a list depends on. */
  const lists = new LRUCache<string, SearchPage>({
    maxSize: ENTRIES_KEPT,
    sizeCalculation: ({ items }) => items.length + 1,
  });
  return {
    search: async (asked) => (await answer(completed(asked, parts), parts)).page,

    async searchUnlessKnown(asked, isKnown) {
      const query = completed(asked, parts);
      // Computed before the search, so that changes during the search do not get this tag.
      const tag = await tagOf(query, parts);
      if (isKnown(tag)) return { tag };
      const kept = lists.get(tag);
      if (kept) return { tag, page: kept };
      const { page, isLasting } = await answer(query, parts);
      if (!isLasting) return { page };
      if (query.text === '') lists.set(tag, page);
      return { tag, page };
    },
  };
}

type Parts = ReturnType<typeof partsOf>;

function partsOf({ llm: endpoint, ...dependencies }: SearchDependencies) {
  const { engine, world } = dependencies;
  const llm = endpoint && createLlmClient({ endpoint, fetch: world.fetchTrusted, log: world.log });
  return {
    ...dependencies,
    llm,
    order: llm && createReranker(llm),
    writeReasons: llm && createLlmFitReasons(llm),
    rank: createRankingCache(engine),
  };
}

type CompletedQuery = SearchQuery & Required<Pick<SearchQuery, 'limit'>>;

function completed(query: SearchQuery, { settings }: Parts): CompletedQuery {
  const { usual, most } = PROFILES[settings.profile];
  const { text, limit = usual } = query;
  return { ...query, text: plainText(text), limit: Math.min(limit, most) };
}

async function tagOf(query: CompletedQuery, parts: Parts): Promise<string> {
  const { store, baseUrl, llm, settings } = parts;
  // Only what the result depends on, so that all hubs on one database produce the same tags.
  const { profile, mode, rerank } = settings;
  const basis = query.text === '' ? await store.revision() : await stateOf(parts);
  // Not canonical JSON, which is slower: identically written requests produce the same key.
  const all = JSON.stringify([basis, baseUrl(), llm?.model, profile, mode, rerank, query]);
  return hash('sha256', all, 'base64url');
}

/** What a ranking depends on besides the query; recency changes daily. */
async function stateOf({ store, engine, world }: Parts): Promise<string> {
  return [await store.revision(), engine.version(), world.now().toISOString().slice(0, 10)].join(' ');
}

/** `isLasting`: the same query returns the same page until something changes; false after part of search failed. */
async function answer(query: CompletedQuery, parts: Parts) {
  const { hits, isLasting, ...about } = await (query.text === '' ? listed(query, parts) : ranked(query, parts));
  const shown = await presentHits(hits, query, { ...parts, ...about });
  return { page: { items: shown.items, ...about }, isLasting: isLasting && shown.isLasting };
}

type Cut = Omit<SearchPage, 'items'> & { hits: readonly Hit[]; isLasting: boolean };

function listed(
  { filters, versions = 'all', sort, limit, offset, withFacets, facetText }: CompletedQuery,
  { engine }: Parts,
): Promise<Cut> {
  return engine.list({ filters, versions, sort, limit, offset, withFacets, facetText });
}

async function ranked(query: CompletedQuery, parts: Parts): Promise<Cut> {
  const { text, filters, sort, explain, withFacets, facetText, offset } = query;
  const { mode = parts.settings.mode, versions = 'latest', rerank: wanted = parts.settings.rerank } = query;
  const end = offset + query.limit;
  const isByRelevance = sort === 'relevance';
  // In another sort order, the first hits do not show whether any hit was found by words.
  const limit = isByRelevance ? Math.ceil(end / RANKED_AT_ONCE) * RANKED_AT_ONCE : MOST_HITS;
  const request = { text, filters, mode, versions, sort, explain, limit, withFacets, facetText };
  const ranking = await parts.rank(request, await stateOf(parts));
  const { hits, rerank } =
    wanted === 'none' || !isByRelevance ? { ...ranking, rerank: undefined } : await reranked(text, ranking.hits, parts);
  return {
    ...ranking,
    hits: hits.slice(offset, end),
    ...(rerank && { rerank }),
    ...(isOnlyByMeaning(ranking) && { only_by_meaning: true }),
    isLasting: ranking.isLasting && (!parts.llm || rerank === undefined || rerank === 'applied'),
  };
}

async function reranked(text: string, hits: readonly Hit[], parts: Parts): Promise<Pick<Cut, 'hits' | 'rerank'>> {
  const { order, store } = parts;
  if (!order) return { hits, rerank: 'unavailable' };
  const best = await loadEntities(hits.slice(0, MOST_RERANKED), store);
  const entities = best.map(({ entity }) => entity);
  const ordered = await order(text, entities);
  if (ordered.outcome !== 'answered') return { hits, rerank: ordered.outcome };
  return { hits: reordered(hits, best, ordered.value), rerank: 'applied' };
}

/** Even a nonsense query has a nearest text. Real queries share a word with some text. */
function isOnlyByMeaning({ mode, hits }: Pick<Ranking, 'mode' | 'hits'>): boolean {
  return mode === 'hybrid' && hits.length > 0 && hits.every(({ lexical, final }) => lexical === 0 && !isOfNamed(final));
}

/** The scores keep their positions, so that they never rise down the list; hits outside the order follow unchanged. */
function reordered(hits: readonly Hit[], best: readonly { hit: Hit }[], order: readonly number[]): Hit[] {
  const chosen = order.map((position) => (best[position] as { hit: Hit }).hit);
  const moved = new Set(chosen);
  const others = hits.filter((hit) => !moved.has(hit));
  return [...chosen, ...others].map((hit, position) => ({ ...hit, final: hits[position]?.final ?? hit.final }));
}
