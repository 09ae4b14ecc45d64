// Work in a process of its own: what it holds goes back to the machine when it ends, and a crash is not the hub's.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';
import type { WorkerReply } from './worker-process-main.ts';
import { compileCache } from './workers.ts';

export interface WorkerProcess<Task, Result> {
  /** One after the other, in the order in which they are asked for; starts the process when there is none. @throws Error when it fails or dies */
  run(task: Task): Promise<Result>;
  /** Ends the process if it has nothing to do: the next task starts another. */
  rest(): void;
  /** Ends it at once, whatever it does, and for good. */
  close(): Promise<void>;
}

export interface WorkerProcessOptions {
  /** The module whose default export does the work; without an ending. */
  module: URL;
  /** The ending is that of the module that asks: TypeScript in development, JavaScript once built. */
  importer: string;
  /** All of its environment: secrets are no concern of its own. */
  env?: Readonly<Record<string, string>>;
  /** It ends when it has had nothing to do for so long. */
  idleMs: number;
  /** A task that takes longer is given up, together with the process. */
  taskMs: number;
  /** Largest heap for JavaScript. */
  heapMb: number;
}

const MAIN = fileURLToPath(new URL(`./worker-process-main${extname(import.meta.url)}`, import.meta.url));

export function createWorkerProcess<Task extends object, Result>(
  options: WorkerProcessOptions,
): WorkerProcess<Task, Result> {
  const turns = pLimit(1);
  let running: ChildProcess | undefined;
  let isClosed = false;
  let idle: NodeJS.Timeout | undefined;

  function start(): ChildProcess {
    const started = fork(MAIN, [`${fileURLToPath(options.module)}${extname(options.importer)}`], {
      env: { ...compileCache(), ...options.env },
      execArgv: [`--max-old-space-size=${options.heapMb}`, '--max-semi-space-size=2'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const forget = () => {
      if (running === started) running = undefined;
    };
    started.once('exit', forget).on('error', forget);
    return started;
  }

  async function ask(task: Task): Promise<Result> {
    if (isClosed) throw new Error('The process for this has been ended.');
    clearTimeout(idle);
    running ??= start();
    const worker = running;
    const answered = new AbortController();
    const late = setTimeout(() => worker.kill('SIGKILL'), options.taskMs);
    keepAlive(worker, true);
    try {
      const { signal } = answered;
      const reply = Promise.race([once(worker, 'message', { signal }), death(worker, signal)]);
      // Nobody waits for it when the task cannot be sent at all.
      reply.catch(() => {});
      // What cannot be sent to a process that is ending is told by its end.
      worker.send(task, () => {});
      const [outcome] = (await reply) as [WorkerReply];
      if ('error' in outcome) throw new Error(outcome.error);
      return outcome.result as Result;
    } finally {
      answered.abort();
      clearTimeout(late);
      keepAlive(worker, false);
      idle = setTimeout(rest, options.idleMs).unref();
    }
  }

  /** Without a word of warning: it has nothing to lose, and whatever it would do first can only go wrong. */
  function end(): Promise<unknown> | undefined {
    clearTimeout(idle);
    const worker = running;
    running = undefined;
    if (!worker) return undefined;
    const gone = once(worker, 'exit').catch(() => {});
    worker.kill('SIGKILL');
    return gone;
  }

  function rest(): void {
    if (turns.activeCount + turns.pendingCount === 0) end();
  }

  return {
    run: (task) => turns(() => ask(task)),
    rest,
    async close() {
      isClosed = true;
      running?.ref();
      await end();
    },
  };
}

async function death(worker: ChildProcess, signal: AbortSignal): Promise<never> {
  const [code, killedBy] = (await once(worker, 'exit', { signal })) as [number | null, string | null];
  throw new Error(`The process for this ended by itself (${killedBy ?? `exit code ${code}`}).`);
}

/** A process that only waits must not keep its parent from ending; one that works must. */
function keepAlive(worker: ChildProcess, isWanted: boolean): void {
  if (isWanted) {
    worker.ref();
    worker.channel?.ref();
  } else {
    worker.unref();
    worker.channel?.unref();
  }
}
