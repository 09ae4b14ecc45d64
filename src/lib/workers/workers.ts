// Pools of worker threads, for work that would block the main thread.
import module from 'node:module';
import { dirname, extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';

export interface WorkerPool<Task, Result> {
  /** An aborted task ends together with its thread. Transferred buffers are lost to the caller. Rejects once the pool is closed. */
  run(task: Task, options?: { signal: AbortSignal; transferList?: ArrayBuffer[] }): Promise<Result>;
  /** Waits up to two minutes for running tasks: ending a thread inside native code can crash the process. */
  close(): Promise<void>;
  /** Ends running tasks. */
  destroy(): Promise<void>;
}

export interface WorkerPoolOptions {
  /** The module whose default export does the work; without a file extension. */
  module: URL;
  /** Determines the file extension: TypeScript in development, JavaScript in the build. */
  importer: string;
  data?: unknown;
  threads: number;
  /** Threads that start with the first task and keep running; others end after `idleMs` without work. */
  kept: number;
  idleMs?: number;
  /** A longer queue means that the hub cannot keep up, so the next task is refused. */
  longestQueue: number;
  /** Maximum heap of a thread; it collects garbage earlier than by default. */
  heapMb: number;
}

/** Only a hanging task takes this long. */
const LONGEST_CLOSE_MS = 120_000;
const LOOK_AGAIN_MS = 5;

export function createWorkerPool<Task, Result>(options: WorkerPoolOptions): WorkerPool<Task, Result> {
  let isClosed = false;
  let isLoading = () => false;
  let pool: Piscina<Task, Result> | undefined;

  function open(): Piscina<Task, Result> {
    const opened = new Piscina<Task, Result>(settingsOf(options));
    const loaded = new Set<number>();
    isLoading = () => opened.threads.some(({ threadId }) => !loaded.has(threadId));
    // Piscina announces a thread once it has loaded, except for the first ones, which it announces at once.
    const first = opened.threads;
    for (const thread of first) thread.once('message', () => loaded.add(thread.threadId));
    opened.on('workerCreate', ({ id }) => {
      if (first.every(({ threadId }) => threadId !== id)) loaded.add(id);
    });
    // Piscina does not replace a thread that fails during startup, so queued tasks would never settle. They are rejected here,
    // and the next task starts new threads.
    opened.on('error', () => {
      if (isClosed || opened !== pool || opened.threads.length > 0) return;
      pool = undefined;
      void opened.destroy();
    });
    return opened;
  }

  /** Ending a thread that is still loading would crash the process. */
  async function end(): Promise<void> {
    const startedAt = performance.now();
    while (isLoading() && performance.now() - startedAt < LONGEST_CLOSE_MS) await sleep(LOOK_AGAIN_MS);
    await pool?.destroy();
  }

  const running = new Set<Promise<Result>>();
  return {
    async run(task, how) {
      // Without this, a closed pool would restart with the next task.
      if (isClosed) throw new Error('The threads for this have been stopped.');
      pool ??= open();
      const result = pool.run(task, how);
      running.add(result);
      try {
        return await result;
      } finally {
        running.delete(result);
      }
    },
    // Piscina's own close treats a thread as done when it continues with the next task, and ends it after a few seconds.
    async close() {
      isClosed = true;
      await Promise.race([Promise.allSettled(running), sleep(LONGEST_CLOSE_MS, undefined, { ref: false })]);
      await end();
    },
    async destroy() {
      isClosed = true;
      await end();
    },
  };
}

function settingsOf(options: WorkerPoolOptions) {
  return {
    filename: `${fileURLToPath(options.module)}${extname(options.importer)}`,
    workerData: options.data,
    // Not the environment of the process, because threads do not need its secrets.
    env: compileCache(),
    minThreads: options.kept,
    maxThreads: options.threads,
    idleTimeout: options.idleMs ?? 5_000,
    maxQueue: options.longestQueue,
    resourceLimits: { maxOldGenerationSizeMb: options.heapMb, maxYoungGenerationSizeMb: 6 },
  };
}

/** Lets threads and processes reuse the main thread's compile cache instead of stripping types and compiling again. */
function compileCache(): NodeJS.ProcessEnv {
  const folder = module.getCompileCacheDir();
  // Node appends a subfolder for its own version.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
