#!/usr/bin/env node
// The executable: passes the environment, arguments and signals to the command line, and restarts itself on Node 24 if needed.
import { spawn } from 'node:child_process';
import module from 'node:module';
import { findRuntime, OLDEST_NODE, WHERE_TO_GET_IT } from './runtime.ts';

const PARENT_LOOK_MS = 500;
/**
 * A small young generation saves 50 MB during an ingest; helper threads for it would take a tenth of the processor time.
 * Node reads these options only at startup.
 */
const SMALL_HEAP = ['--max-semi-space-size=8', '--no-parallel-scavenge'];
/** Saves 60 MB: otherwise, glibc keeps freed memory for each of up to eight threads per core. */
const FEW_ARENAS = { MALLOC_ARENA_MAX: '2' };
if (process.versions.node.localeCompare(OLDEST_NODE, 'en', { numeric: true }) >= 0) {
  if (process.argv[2] === 'serve') startWithLittleMemory();
  await runHere();
} else {
  const runtime = findRuntime();
  if (runtime !== undefined) runOn(runtime);
  else {
    process.stderr.write(
      `hub: needs Node ${OLDEST_NODE} or newer, but this is ${process.versions.node}. ${WHERE_TO_GET_IT}\n`,
    );
    process.exitCode = 2;
  }
}

/** Replaces this process with one that uses less memory, and then does not return. Does nothing on Windows or in the new process. */
function startWithLittleMemory(): void {
  if ('MALLOC_ARENA_MAX' in process.env || process.platform === 'win32') return;
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ');
  // An operator who sets the size decides about both options.
  const heap = given.includes('semi-space-size') ? [] : SMALL_HEAP;
  const args = [process.execPath, ...heap, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(process.execPath, args, { ...process.env, ...FEW_ARENAS });
}

async function runHere(): Promise<void> {
  module.enableCompileCache?.();
  // Loaded lazily, because older versions of Node cannot parse these modules.
  const [{ main }, { askSecret }] = await Promise.all([
    import('../cli/main.ts'),
    import('../cli/terminal/ask-secret.ts'),
  ]);
  const { env, argv, stdin, stdout, stderr } = process;
  const signal = shutdownSignal();
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that closes the pipe early, such as `head`, is not a failure.
    if (error.code === 'EPIPE') process.exit(0);
    stderr.write(`hub: The output could not be written: ${error.message}.\n`, () => process.exit(1));
  });
  // The output is closed, so the error cannot be reported.
  stderr.on('error', () => {});
  process.exitCode = await main(argv.slice(2), {
    environment: env,
    isTerminal: stdout.isTTY === true,
    isErrorTerminal: stderr.isTTY === true,
    // Some terminals report 0 columns.
    columns: stdout.columns || stderr.columns || 80,
    write: (text) => stdout.write(text),
    writeError: (text) => stderr.write(text),
    readInput: async () => (await import('node:stream/consumers')).text(stdin),
    ask:
      stdin.isTTY && stderr.isTTY
        ? async (question) =>
            (await import('../cli/terminal/ask.ts')).ask({ question, input: stdin, output: stderr, signal })
        : undefined,
    askSecret:
      stdin.isTTY && stderr.isTTY
        ? (question) => askSecret({ question, input: stdin, output: stderr, signal })
        : undefined,
    shutdown: signal,
  });
}

/** Runs the same command line on another Node; forwards signals to it and takes over its exit code. */
function runOn(runtime: string): void {
  const child = spawn(runtime, [...SMALL_HEAP, ...process.argv.slice(1)], {
    stdio: 'inherit',
    env: { ...FEW_ARENAS, ...process.env },
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`hub: the Node at ${runtime} could not be started: ${error.message}.\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}

function watchParent(onGone: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, PARENT_LOOK_MS).unref();
}

function shutdownSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // The handler stays installed: without it, the signal that is meant for child processes would also end the hub.
    process.on(signal, () => {
      if (!controller.signal.aborted) return controller.abort();
      // A second signal means that the user does not want to wait.
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    });
  }
  // npm forwards signals to a shell, which exits without forwarding them to its children.
  if (process.env.npm_lifecycle_event !== undefined) watchParent(() => controller.abort());
  return controller.signal;
}
