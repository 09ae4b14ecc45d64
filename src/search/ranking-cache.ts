// A cache of the rankings of recent queries; equal queries that run at the same time share one ranking.
import { LRUCache } from 'lru-cache';
import { jsonDigest } from '../lib/json-digest.ts';
import type { Ranking, RankRequest, SearchEngine } from './engine/engine.ts';

/** Enough for several hundred broad queries with a few hundred hits each. */
const MOST_CACHED_BYTES = 16_000_000;
/** The cost of an entry besides its text: its key and its cache slot. */
const ENTRY_OVERHEAD_BYTES = 300;

/** `state` identifies everything that a ranking depends on besides the query. */
type Rank = (request: RankRequest, state: string) => Promise<Ranking>;

export function createRankingCache(engine: Pick<SearchEngine, 'rank'>): Rank {
  /** As JSON: a single string instead of hundreds of objects for the garbage collector to visit. */
  const cache = new LRUCache<string, string>({
    maxSize: MOST_CACHED_BYTES,
    // A character takes up to two bytes.
    sizeCalculation: ({ length }) => ENTRY_OVERHEAD_BYTES + 2 * length,
  });
  const underWay = new Map<string, Promise<Ranking>>();

  async function rank(request: RankRequest, key: string): Promise<Ranking> {
    // No signal is passed, because other callers may be waiting for the same ranking.
    const ranking = await engine.rank(request);
    // Rankings with explanations are not cached: they are large and rarely requested.
    if (ranking.isLasting && !request.explain) cache.set(key, JSON.stringify(ranking));
    return ranking;
  }

  return async (request, state) => {
    // A digest, because a request may be many kilobytes long.
    const key = jsonDigest([state, request]);
    const cached = cache.get(key);
    if (cached) return JSON.parse(cached) as Ranking;
    const ranking = underWay.get(key) ?? rank(request, key).finally(() => underWay.delete(key));
    underWay.set(key, ranking);
    return ranking;
  };
}
