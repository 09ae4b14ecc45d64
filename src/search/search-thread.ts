// The search thread as the main one sees it.
import pLimit from 'p-limit';
import { HubError } from '../errors.ts';
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
const TOO_MANY = 'Too many searches at once; try again in a moment.';
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
  // A pool gives a thread that becomes free to whoever asks in that moment, also before those who wait.
  const turns = pLimit(1);
  let sizes: IndexSizes = { entities: 0, families: 0, texts: 0, embedded: 0 };
  let instance = '';
  return {
    async run<K extends SearchTask['kind']>(task: Extract<SearchTask, { kind: K }>): Promise<TaskResults[K]> {
      if (turns.pendingCount >= LONGEST_QUEUE) throw new HubError('overloaded', TOO_MANY);
      pool ??= start();
      const threads = pool;
      const reply = (await turns(() => threads.run(task))) as SearchReply<K>;
      sizes = reply.sizes;
      instance = reply.instance;
      return reply.result;
    },
    sizes: () => sizes,
    instance: () => instance,
    close: async () => pool?.destroy(),
  };
}
