// Work in a process of its own: what it holds goes back to the machine when it ends, and a crash is not the hub's.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';
import type { WorkerReply, WorkerRequest } from './worker-process-main.ts';
import { compileCache } from './workers.ts';

export interface WorkerProcess<Task, Result> {
  /**
   * One after the other, in the order in which they are asked for; starts the process when there is none. Not begun
   * when the signal is aborted by the time its turn comes. @throws WorkerProcessError when there is no process to do it
   * @throws Error what the work itself throws
   */
  run(task: Task, signal?: AbortSignal): Promise<Result>;
  /** Ends the process once it has done what was asked for until now: the next task starts another. */
  rest(): void;
  /** Ends it at once, whatever it does, and for good. */
  close(): Promise<void>;
}

export interface WorkerProcessOptions {
  /** The module whose default export gets `setup` when the process starts, and gives what does the tasks; without an ending. */
  module: URL;
  /** The ending is that of the module that asks: TypeScript in development, JavaScript once built. */
  importer: string;
  setup?: unknown;
  /** All of its environment, but for what names libraries: secrets are no concern of its own. */
  env?: Readonly<Record<string, string>>;
  /** It ends when it has had nothing to do for so long. */
  idleMs: number;
  /** A task that takes longer is given up, together with the process. */
  taskMs: number;
  /** One that was lost is not started again for so long: whoever waits or asks meanwhile gets the same error. */
  restAfterLossMs?: number;
  /** Largest heap for JavaScript. */
  heapMb: number;
}

/** There is no process to do the task. */
export class WorkerProcessError extends Error {
  override readonly name = 'WorkerProcessError';
  readonly reason: 'not started' | 'not opened' | 'crashed' | 'killed' | 'closed';

  constructor(reason: WorkerProcessError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

interface Running {
  child: ChildProcess;
  /** How it ended, or why it never began. */
  gone: Promise<WorkerProcessError>;
}

const MAIN = fileURLToPath(new URL(`./worker-process-main${extname(import.meta.url)}`, import.meta.url));
/** Without these, Node or a native module may not find what it is linked with. */
const NAMES_OF_LIBRARIES = ['LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'DYLD_FALLBACK_LIBRARY_PATH'];

export function createWorkerProcess<Task extends object, Result>(
  options: WorkerProcessOptions,
): WorkerProcess<Task, Result> {
  const turns = pLimit(1);
  let running: Running | undefined;
  let lost: { error: WorkerProcessError; at: number } | undefined;
  let isClosed = false;
  let idle: NodeJS.Timeout | undefined;

  function start(): Running {
    const child = forked(options);
    const gone = end(child);
    const started = { child, gone };
    gone.then(() => {
      if (running === started) running = undefined;
    });
    return started;
  }

  async function ask(task: Task): Promise<Result> {
    if (isClosed) throw closed();
    if (lost && performance.now() - lost.at < (options.restAfterLossMs ?? 0)) throw lost.error;
    clearTimeout(idle);
    try {
      running ??= start();
      const reply = await answer(running, { setup: options.setup, task }, options.taskMs);
      if ('error' in reply) throw new Error(reply.error);
      lost = undefined;
      return reply.result as Result;
    } catch (error) {
      if (!(error instanceof WorkerProcessError)) throw error;
      if (isClosed) throw closed();
      lost = { error, at: performance.now() };
      // One that could not be opened is of no use, and may never be.
      await kill();
      throw error;
    } finally {
      idle = setTimeout(rest, options.idleMs).unref();
    }
  }

  /** Without a word of warning: it has nothing to lose, and whatever it would do first can only go wrong. */
  async function kill(): Promise<void> {
    clearTimeout(idle);
    // Whoever waits for its end must not end before it: between tasks it keeps no process alive.
    running?.child.ref();
    running?.child.kill('SIGKILL');
    await running?.gone;
  }

  function rest(): void {
    // In its turn, so that nothing is lost, and the next process begins only when this one has left its memory.
    void turns(kill);
  }

  return {
    run: (task, signal) =>
      turns(() => {
        signal?.throwIfAborted();
        return ask(task);
      }),
    rest,
    async close() {
      isClosed = true;
      await kill();
    },
  };
}

/** @throws WorkerProcessError */
function forked({ module, importer, env, heapMb }: WorkerProcessOptions): ChildProcess {
  const libraries = NAMES_OF_LIBRARIES.flatMap((name) => {
    // biome-ignore lint/style/noProcessEnv: of these three nothing is configured; they belong to the program that is started again.
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  try {
    return fork(MAIN, [`${fileURLToPath(module)}${extname(importer)}`], {
      env: { ...Object.fromEntries(libraries), ...compileCache(), ...env },
      execArgv: [`--max-old-space-size=${heapMb}`, '--max-semi-space-size=2'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      windowsHide: true,
    });
  } catch (error) {
    throw notStarted(error);
  }
}

function end(child: ChildProcess): Promise<WorkerProcessError> {
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(notStarted(error)));
    child.once('exit', (code, signal) => {
      const sentence = `The process for this ended by itself (${signal ?? `exit code ${code}`}).`;
      resolve(new WorkerProcessError(signal === 'SIGKILL' ? 'killed' : 'crashed', sentence));
    });
  });
}

/** @throws WorkerProcessError @throws Error when the request cannot be sent */
async function answer({ child, gone }: Running, request: WorkerRequest, taskMs: number) {
  const answered = new AbortController();
  const late = setTimeout(() => child.kill('SIGKILL'), taskMs);
  keepAlive(child, true);
  try {
    const message = once(child, 'message', { signal: answered.signal });
    // Nobody waits for it when the task cannot be sent at all.
    message.catch(() => {});
    // What cannot be sent to a process that is ending, or never began, is told by its end.
    child.send?.(request, () => {});
    const outcome = await Promise.race([message, gone]);
    if (outcome instanceof WorkerProcessError) throw outcome;
    const [reply] = outcome as [WorkerReply];
    if ('unopened' in reply) throw new WorkerProcessError('not opened', reply.unopened);
    return reply;
  } finally {
    answered.abort();
    clearTimeout(late);
    keepAlive(child, false);
  }
}

/** A process that only waits must not keep its parent from ending; one that works must. */
function keepAlive(child: ChildProcess, isWanted: boolean): void {
  if (isWanted) {
    child.ref();
    child.channel?.ref();
  } else {
    child.unref();
    child.channel?.unref();
  }
}

function notStarted(cause: unknown): WorkerProcessError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new WorkerProcessError('not started', `The process for this cannot be started (${why}).`, { cause });
}

function closed(): WorkerProcessError {
  return new WorkerProcessError('closed', 'The process for this has been ended.');
}
