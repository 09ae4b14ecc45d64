// The threads that build and merge the index, as the main one sees them.
import { createWorkerPool, type WorkerPool } from '../../lib/workers.ts';
import type { IndexResults, IndexTask } from './index-worker.ts';

export type RunIndexTask = <K extends IndexTask['kind']>(
  task: Extract<IndexTask, { kind: K }>,
) => Promise<IndexResults[K]>;

export interface IndexThreads {
  run: RunIndexTask;
  close(): Promise<void>;
}

/** One builds while another merges. */
const THREADS = 2;
const IDLE_MS = 10_000;
const LONGEST_QUEUE = 100;
/** Merging a million entities takes about half of it. */
const HEAP_MB = 1_024;

/** Threads start with the first task and end when they have had nothing to do for a while. */
export function createIndexThreads(): IndexThreads {
  let pool: WorkerPool<IndexTask, IndexResults[IndexTask['kind']]> | undefined;
  const start = () =>
    createWorkerPool<IndexTask, IndexResults[IndexTask['kind']]>({
      module: new URL('./index-worker', import.meta.url),
      importer: import.meta.url,
      threads: THREADS,
      kept: 0,
      idleMs: IDLE_MS,
      longestQueue: LONGEST_QUEUE,
      heapMb: HEAP_MB,
    });
  return {
    async run<K extends IndexTask['kind']>(task: Extract<IndexTask, { kind: K }>): Promise<IndexResults[K]> {
      pool ??= start();
      return (await pool.run(task)) as IndexResults[K];
    },
    close: async () => pool?.destroy(),
  };
}
