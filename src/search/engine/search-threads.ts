// The main thread's interface to the threads that rank and list.
import { availableParallelism } from 'node:os';
import { HubError } from '../../errors.ts';
import { createWorkerPool, type WorkerPool } from '../../lib/workers/workers.ts';
import type { FoundHits, ListRequest } from './engine.ts';
import type { IndexState } from './index-state.ts';
import type { RankedReply, RankWork, SearchTask } from './search-worker.ts';

const MOST_THREADS = 8;
const LONGEST_QUEUE = 500;
const TOO_MANY = 'Too many searches at once; try again in a moment.';
/** The index is not on the heap: this is for caches, a tokenizer and the current query. */
const HEAP_MB = 256;

/** Threads start with the first searches and keep running. They share the index memory, so additional threads cost little. */
export function createSearchThreads(state: IndexState, data: { modelFolder: string }) {
  const pool: WorkerPool<SearchTask, unknown> = createWorkerPool({
    module: new URL('./search-worker', import.meta.url),
    importer: import.meta.url,
    data,
    threads: Math.min(MOST_THREADS, availableParallelism()),
    kept: 1,
    idleMs: Number.POSITIVE_INFINITY,
    longestQueue: LONGEST_QUEUE + 1,
    heapMb: HEAP_MB,
  });
  let waiting = 0;

  async function run(work: SearchTask['work']): Promise<unknown> {
    if (waiting >= LONGEST_QUEUE) throw new HubError('overloaded', TOO_MANY);
    const withParts = () => pool.run({ version: state.version, parts: state.parts, work });
    waiting += 1;
    try {
      return (await pool.run({ version: state.version, work })) ?? (await withParts());
    } catch {
      // A thread that ran out of memory is replaced, and the search is retried once.
      return await withParts();
    } finally {
      waiting -= 1;
    }
  }

  return {
    rank: async (work: RankWork) => (await run({ rank: work })) as RankedReply,
    list: async (request: ListRequest) => (await run({ list: request })) as FoundHits,
    close: () => pool.close(),
  };
}
