// The main thread's interface to the threads that build and merge the index.
import { createWorkerPool } from '../../lib/workers/workers.ts';
import type { IndexTasks } from './index-worker.ts';

export type RunIndexTask = <Kind extends keyof IndexTasks>(
  kind: Kind,
  ...given: Parameters<IndexTasks[Kind]>
) => Promise<Awaited<ReturnType<IndexTasks[Kind]>>>;

/** One builds while the other merges. */
const THREADS = 2;
const IDLE_MS = 10_000;
const LONGEST_QUEUE = 100;
/** Merging a million entities takes about half of this. */
const HEAP_MB = 1_024;

/** Threads start on demand and end after some idle time. */
export function createIndexThreads() {
  const pool = createWorkerPool<readonly unknown[], never>({
    module: new URL('./index-worker', import.meta.url),
    importer: import.meta.url,
    threads: THREADS,
    kept: 0,
    idleMs: IDLE_MS,
    longestQueue: LONGEST_QUEUE,
    heapMb: HEAP_MB,
  });
  // Tasks depend only on their arguments, so a task whose thread died is simply run again.
  const run: RunIndexTask = (kind, ...given) => pool.run([kind, ...given]).catch(() => pool.run([kind, ...given]));
  return { run, close: () => pool.destroy() };
}
