// A cache of the rankings of recent queries; equal queries that run at the same time share one ranking.
import { LRUCache } from 'lru-cache';
import { jsonDigest } from '../lib/json-digest.ts';
import type { Ranking, RankRequest, SearchEngine } from './engine.ts';
import { columnsOf, hitsFrom } from './hit-columns.ts';

export interface Rankings {
  /** `state` identifies everything besides the query that a ranking depends on. */
  rank(request: RankRequest, state: string): Promise<Ranking>;
}

/** Room for several hundred broad queries, which have a few hundred hits each. */
const MOST_CACHED_BYTES = 16_000_000;
/** What an entry costs besides its uids and numbers: its key, its objects and its place in the cache. */
const ENTRY_OVERHEAD_BYTES = 600;

export function createRankings(engine: Pick<SearchEngine, 'rank'>): Rankings {
  const cache = new LRUCache<string, CachedRanking>({ maxSize: MOST_CACHED_BYTES, sizeCalculation: bytesOf });
  const underWay = new Map<string, Promise<Ranking>>();

  async function rank(request: RankRequest, key: string): Promise<Ranking> {
    // No signal is passed, because other callers may wait for the same ranking.
    const ranking = await engine.rank(request);
    // Rankings with explanations are not cached: they are large and rarely requested.
    if (ranking.isLasting && !request.explain) cache.set(key, packed(ranking));
    return ranking;
  }

  return {
    async rank(request, state) {
      // A digest, because a request may be many kilobytes long.
      const key = jsonDigest([state, request]);
      const cached = cache.get(key);
      if (cached) return unpacked(cached);
      const ranking = underWay.get(key) ?? rank(request, key).finally(() => underWay.delete(key));
      underWay.set(key, ranking);
      return ranking;
    },
  };
}

/** A few blocks of memory instead of thousands of objects that the garbage collector would have to visit. */
interface CachedRanking extends Omit<Ranking, 'hits'> {
  /** As JSON. */
  uids: string;
  numbers: Float64Array;
}

function packed({ hits, ...rest }: Ranking): CachedRanking {
  const { uids, numbers } = columnsOf(hits);
  return { ...rest, uids: JSON.stringify(uids), numbers };
}

function unpacked({ uids, numbers, ...rest }: CachedRanking): Ranking {
  return { ...rest, hits: hitsFrom({ uids: JSON.parse(uids), numbers }) };
}

/** A character of a string takes up to two bytes. */
function bytesOf({ uids, numbers, degraded = '' }: CachedRanking): number {
  return ENTRY_OVERHEAD_BYTES + numbers.byteLength + 2 * (uids.length + degraded.length);
}
