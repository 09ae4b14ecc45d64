// The story of a search: a list, or a ranking that may be reranked; then the page is cut, and only the page is loaded.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { World } from '../lib/world.ts';
import type { Rerank, SearchItem, SearchMode, SearchPage, SearchQuery, TaggedPage } from './contract.ts';
import type { Hit, Ranking, SearchEngine } from './engine/engine.ts';
import { createLlmClient, type LlmDependencies } from './llm/llm-client.ts';
import { createLlmFitReasons } from './llm/llm-fit-reasons.ts';
import { createReranker, MOST_RERANKED } from './llm/reranker.ts';
import { queryTerms } from './matches.ts';
import { extractFitReason, type FoundEntity, presentItem } from './present.ts';
import { isOfNamed } from './ranking/merge.ts';
import { createRankings } from './rankings.ts';
import { plainText } from './search-query.ts';
import type { SearchStore } from './store.ts';

export interface Search {
  search(query: SearchQuery): Promise<SearchPage>;
  /** For callers that keep answers: whoever knows the tag has the page, and costs no search. */
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
  /** The language model, where there is one. */
  llm?: LlmDependencies['endpoint'];
  settings: SearchSettings;
  world: Pick<World, 'now' | 'log' | 'fetchTrusted'>;
  baseUrl: () => string;
}

const PROFILES = { general: { usual: 20, most: 100 }, public: { usual: 5, most: 5 } };
/** Entries of all kept lists together. */
const ENTRIES_KEPT = 1_000;
/** Hits are ranked in steps of so many, so that the next page costs no search; reranking needs the first step. */
const RANKED_AT_ONCE = MOST_RERANKED;

interface Cut {
  hits: readonly Hit[];
  total: number;
  about: Omit<SearchPage, 'items' | 'total'>;
  /** Whether the same question has the same answer until something changes: not so when a part of search failed. */
  isLasting: boolean;
}

export function createSearch({ engine, store, settings, world, baseUrl, ...options }: SearchDependencies): Search {
  const llm = options.llm && createLlmClient({ endpoint: options.llm, fetch: world.fetchTrusted, log: world.log });
  const reranker = llm && createReranker(llm);
  const fitReasons = llm && createLlmFitReasons(llm);
  const rankings = createRankings(engine);
  /** Whoever opens the page asks for the same list; a tag stands for everything that a list depends on. */
  const lists = new LRUCache<string, SearchPage>({
    maxSize: ENTRIES_KEPT,
    sizeCalculation: ({ items }) => items.length + 1,
  });

  /** What a ranking depends on beside the query: recency changes from day to day. */
  async function state(): Promise<string> {
    return [await store.revision(), engine.version(), world.now().toISOString().slice(0, 10)].join(' ');
  }

  function limitOf({ limit }: Pick<SearchQuery, 'limit'>): number {
    const { usual, most } = PROFILES[settings.profile];
    return Math.min(limit ?? usual, most);
  }

  async function listPage({ filters, versions = 'all', withFacets, ...query }: SearchQuery): Promise<Cut> {
    const request = { filters, versions, limit: limitOf(query), offset: query.offset, withFacets };
    const { hits, total, facets, degraded, isLasting } = await engine.list(request);
    return {
      hits,
      total,
      about: { ...(degraded !== undefined && { degraded }), ...(facets && { facets }) },
      isLasting,
    };
  }

  async function rankedPage(text: string, query: SearchQuery): Promise<Cut> {
    const { filters, explain, withFacets } = query;
    const end = query.offset + limitOf(query);
    const limit = Math.ceil(end / RANKED_AT_ONCE) * RANKED_AT_ONCE;
    const choice = { mode: query.mode ?? settings.mode, versions: query.versions ?? 'latest' };
    const ranking = await rankings.rank({ text, filters, ...choice, explain, limit, withFacets }, await state());
    const { hits, rerank } = await reranked(text, ranking.hits, query.rerank ?? settings.rerank);
    return {
      hits: hits.slice(query.offset, end),
      total: ranking.total,
      about: {
        mode: ranking.mode,
        ...(rerank && { rerank }),
        ...(ranking.degraded !== undefined && { degraded: ranking.degraded }),
        ...(isOnlyByMeaning(ranking) && { only_by_meaning: true }),
        ...(ranking.facets && { facets: ranking.facets }),
      },
      isLasting: ranking.isLasting && (!llm || rerank === undefined || rerank === 'applied'),
    };
  }

  async function reranked(
    text: string,
    hits: readonly Hit[],
    wanted: Rerank,
  ): Promise<{ hits: readonly Hit[]; rerank?: SearchPage['rerank'] }> {
    if (wanted === 'none') return { hits };
    if (!reranker) return { hits, rerank: 'unavailable' };
    const best = await loaded(hits.slice(0, MOST_RERANKED));
    const answer = await reranker.order(
      text,
      best.map(({ entity }) => entity),
    );
    if (answer.outcome !== 'answered') return { hits, rerank: answer.outcome };
    return { hits: reordered(hits, best, answer.value), rerank: 'applied' };
  }

  async function loaded(hits: readonly Hit[]): Promise<{ hit: Hit; entity: FoundEntity['entity'] }[]> {
    const entities = await store.summaries(hits.map(({ uid }) => uid));
    const byUid = new Map(entities.map((entity) => [entity.uid, entity]));
    return hits.flatMap((hit) => {
      const entity = byUid.get(hit.uid);
      return entity ? [{ hit, entity }] : [];
    });
  }

  async function items(text: string, { hits, about }: Cut, query: SearchQuery) {
    const { withSnippets, explain } = query;
    const withFitReason = query.withFitReason && text !== '';
    const [page, descriptions] = await Promise.all([
      loaded(hits),
      withSnippets || withFitReason ? store.descriptions(hits.map(({ uid }) => uid)) : new Map<string, string>(),
    ]);
    const found = page.map((each) => ({ ...each, description: descriptions.get(each.entity.uid) ?? '' }));
    const terms = queryTerms(text);
    // Whoever searches waits for a model that does not serve only once.
    const mayAskModel = withFitReason && about.rerank !== 'failed';
    const entities = found.map(({ entity }) => entity);
    const written = (mayAskModel && (await fitReasons?.explain(text, entities))) || [];
    const shared = { baseUrl: baseUrl(), terms, withSnippets, explain };
    return {
      items: found.map((each, place): SearchItem => {
        const fitReason = withFitReason ? (written[place] ?? extractFitReason(each, terms)) : undefined;
        return presentItem(each, { ...shared, fitReason });
      }),
      isLasting: written.every((reason) => reason !== undefined),
    };
  }

  async function answer(query: SearchQuery): Promise<{ page: SearchPage; isLasting: boolean }> {
    const text = plainText(query.text);
    const cut = text === '' ? await listPage(query) : await rankedPage(text, query);
    const shown = await items(text, cut, query);
    return {
      page: { items: shown.items, total: cut.total, ...cut.about },
      isLasting: cut.isLasting && shown.isLasting,
    };
  }

  async function tagOf(query: SearchQuery): Promise<string> {
    const asked = { ...query, text: plainText(query.text), limit: limitOf(query) };
    const basis = asked.text === '' ? await store.revision() : await state();
    // Not canonical, which costs more: whoever asks in the same way is made the same query of.
    const all = JSON.stringify([basis, baseUrl(), llm?.model, settings, asked]);
    return createHash('sha256').update(all).digest('base64url');
  }

  return {
    search: async (query) => (await answer(query)).page,

    async searchUnlessKnown(query, isKnown) {
      // Before the search: what changes meanwhile must not be taken for what the tag stands for.
      const tag = await tagOf(query);
      if (isKnown(tag)) return { tag };
      const kept = lists.get(tag);
      if (kept) return { tag, page: kept };
      const { page, isLasting } = await answer(query);
      if (!isLasting) return { page };
      if (isList(query)) lists.set(tag, page);
      return { tag, page };
    },
  };
}

/** Something is always nearest: of what nobody means, too. Real questions share a word with something. */
function isOnlyByMeaning({ mode, hits }: Pick<Ranking, 'mode' | 'hits'>): boolean {
  return mode === 'hybrid' && hits.length > 0 && hits.every(({ lexical, final }) => lexical === 0 && !isOfNamed(final));
}

function isList({ text }: SearchQuery): boolean {
  return plainText(text) === '';
}

/** The scores stay where they are, so that they never rise down the list; what is not in the order follows as it was. */
function reordered(hits: readonly Hit[], best: readonly { hit: Hit }[], order: readonly number[]): Hit[] {
  const chosen = order.map((place) => (best[place] as { hit: Hit }).hit);
  const moved = new Set(chosen);
  const others = hits.filter((hit) => !moved.has(hit));
  return [...chosen, ...others].map((hit, place) => ({ ...hit, final: hits[place]?.final ?? hit.final }));
}
