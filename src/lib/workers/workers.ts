// Pools of worker threads, for work that would block the main one.
import module from 'node:module';
import { dirname, extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';

export interface WorkerPool<Task, Result> {
  /** A task whose signal is aborted is ended, together with the thread it runs on. What is transferred is lost to the caller. Rejects once the pool is closed. */
  run(task: Task, options?: { signal: AbortSignal; transferList?: ArrayBuffer[] }): Promise<Result>;
  /** Lets what is under way finish, for two minutes: a thread that is ended inside native code can take the process with it. */
  close(): Promise<void>;
  /** Ends what is under way. */
  destroy(): Promise<void>;
}

export interface WorkerPoolOptions {
  /** The module whose default export does the work; without an ending. */
  module: URL;
  /** The ending is that of the module that asks: TypeScript in development, JavaScript once built. */
  importer: string;
  data?: unknown;
  threads: number;
  /** Threads that are started at once and kept; others end when they have had nothing to do for `idleMs`. */
  kept: number;
  idleMs?: number;
  /** More tasks than this waiting means that the hub cannot keep up: the next is refused. */
  longestQueue: number;
  /** Largest heap of one thread; it collects its garbage sooner than by default. */
  heapMb: number;
}

/** Only what hangs takes so long. */
const LONGEST_CLOSE_MS = 120_000;
const LOOK_AGAIN_MS = 5;

export function createWorkerPool<Task, Result>(options: WorkerPoolOptions): WorkerPool<Task, Result> {
  let isClosed = false;
  let isLoading = () => false;
  let pool: Piscina<Task, Result> | undefined = open();

  function open(): Piscina<Task, Result> {
    const opened = new Piscina<Task, Result>(settingsOf(options));
    const loaded = new Set<number>();
    isLoading = () => opened.threads.some(({ threadId }) => !loaded.has(threadId));
    // Piscina announces a thread when it has loaded, except the first ones, which it announces at once.
    const first = opened.threads;
    for (const thread of first) thread.once('message', () => loaded.add(thread.threadId));
    opened.on('workerCreate', ({ id }) => {
      if (first.every(({ threadId }) => threadId !== id)) loaded.add(id);
    });
    // Piscina does not replace a thread that fails while it starts, so that queued tasks would never settle. They are rejected here, and the
    // next task starts new threads.
    opened.on('error', () => {
      if (isClosed || opened !== pool || opened.threads.length > 0) return;
      pool = undefined;
      void opened.destroy();
    });
    return opened;
  }

  /** A thread that is ended while it still loads takes the whole process with it. */
  async function end(): Promise<void> {
    const startedAt = performance.now();
    while (isLoading() && performance.now() - startedAt < LONGEST_CLOSE_MS) await sleep(LOOK_AGAIN_MS);
    await pool?.destroy();
  }

  const running = new Set<Promise<Result>>();
  return {
    async run(task, how) {
      // Without this, a closed pool would start again with the next task.
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
    // The pool's own way to close counts a thread as done when it goes on with the next task, and ends it after some seconds.
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
    // Not the environment of the process: threads do not need its secrets.
    env: compileCache(),
    minThreads: options.kept,
    maxThreads: options.threads,
    idleTimeout: options.idleMs ?? 5_000,
    maxQueue: options.longestQueue,
    resourceLimits: { maxOldGenerationSizeMb: options.heapMb, maxYoungGenerationSizeMb: 6 },
  };
}

/** For the environment of threads and processes, which would otherwise compile, and strip of types, what is already cached for the main thread. */
function compileCache(): NodeJS.ProcessEnv {
  const folder = module.getCompileCacheDir();
  // Node adds the part that names its own version.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
