// Rankings of recent queries, kept while nothing that they depend on has changed; equal queries at one time share one.
import { LRUCache } from 'lru-cache';
import type { Ranking, RankRequest, SearchEngine } from './engine.ts';
import { columnsOf, hitsFrom } from './hit-columns.ts';

export interface Rankings {
  /** `state` stands for all that a ranking depends on beside the query. */
  rank(request: RankRequest, state: string): Promise<Ranking>;
}

/** Hits of all rankings together: a broad query has some hundreds. */
const HITS_KEPT = 100_000;

export function createRankings(engine: Pick<SearchEngine, 'rank'>): Rankings {
  const kept = new LRUCache<string, KeptRanking>({
    maxSize: HITS_KEPT,
    sizeCalculation: ({ total }) => total + 1,
  });
  const underWay = new Map<string, Promise<Ranking>>();

  async function rank(request: RankRequest, key: string): Promise<Ranking> {
    // Without a signal: others may wait for the same ranking.
    const ranking = await engine.rank(request);
    // Explanations are long and rare.
    if (ranking.isLasting && !request.explain) kept.set(key, keep(ranking));
    return ranking;
  }

  return {
    async rank(request, state) {
      const key = JSON.stringify([state, request]);
      const known = kept.get(key);
      if (known) return restored(known);
      const ranking = underWay.get(key) ?? rank(request, key).finally(() => underWay.delete(key));
      underWay.set(key, ranking);
      return ranking;
    },
  };
}

/** A few blocks instead of thousands of objects, which the garbage collector would carry around. */
interface KeptRanking extends Omit<Ranking, 'hits'> {
  /** As JSON. */
  uids: string;
  numbers: Float64Array;
}

function keep({ hits, ...rest }: Ranking): KeptRanking {
  const { uids, numbers } = columnsOf(hits);
  return { ...rest, uids: JSON.stringify(uids), numbers };
}

function restored({ uids, numbers, ...rest }: KeptRanking): Ranking {
  return { ...rest, hits: hitsFrom({ uids: JSON.parse(uids), numbers }) };
}
