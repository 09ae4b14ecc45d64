// The search thread as the main one sees it.
import { createWorkerPool, type WorkerPool } from '../lib/workers.ts';
import type { IndexSizes } from './engine.ts';
import type { SearchReply, SearchTask, TaskResults } from './search-tasks.ts';

export interface SearchThread {
  /** One after the other, in the order in which they are asked for. */
  run<K extends SearchTask['kind']>(task: Extract<SearchTask, { kind: K }>): Promise<TaskResults[K]>;
  /** After the last task. */
  sizes(): IndexSizes;
  /** Moves when the thread had to be started anew and knows nothing any more. */
  instance(): string;
  close(): Promise<void>;
}

const LONGEST_QUEUE = 500;
/** The whole real catalog takes about 240; a higher limit would let garbage pile up. */
const HEAP_MB = 384;

/** The thread starts with the first task. */
export function createSearchThread(): SearchThread {
  let pool: WorkerPool<SearchTask, SearchReply<SearchTask['kind']>> | undefined;
  const start = () =>
    createWorkerPool<SearchTask, SearchReply<SearchTask['kind']>>({
      module: new URL('./search-worker', import.meta.url),
      importer: import.meta.url,
      threads: 1,
      kept: 1,
      longestQueue: LONGEST_QUEUE,
      heapMb: HEAP_MB,
    });
  let sizes: IndexSizes = { entities: 0, families: 0, texts: 0, embedded: 0 };
  let instance = '';
  return {
    async run<K extends SearchTask['kind']>(task: Extract<SearchTask, { kind: K }>): Promise<TaskResults[K]> {
      pool ??= start();
      const reply = (await pool.run(task)) as SearchReply<K>;
      sizes = reply.sizes;
      instance = reply.instance;
      return reply.result;
    },
    sizes: () => sizes,
    instance: () => instance,
    close: async () => pool?.destroy(),
  };
}
