// The main thread's interface to the threads that build and merge the index.
import { createWorkerPool } from '../../lib/workers/workers.ts';
import type { IndexTasks } from './index-worker.ts';

export type RunIndexTask = <Kind extends keyof IndexTasks>(
  kind: Kind,
  ...given: Parameters<IndexTasks[Kind]>
) => Promise<Awaited<ReturnType<IndexTasks[Kind]>>>;

/** One builds while another merges. */
const THREADS = 2;
const IDLE_MS = 10_000;
const LONGEST_QUEUE = 100;
/** Merging a million entities takes about half of it. */
const HEAP_MB = 1_024;

/** Threads start when there is a task and end when they have had nothing to do for a while. */
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
  // Tasks only depend on what they are given: what a thread that died has left undone, another one does.
  const run: RunIndexTask = (kind, ...given) => pool.run([kind, ...given]).catch(() => pool.run([kind, ...given]));
  return { run, close: () => pool.destroy() };
}
