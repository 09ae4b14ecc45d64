// Runs programs: without a shell, in a process group that is stopped as a whole, with limits on time and output.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import type { GuardedProxy } from './net/guarded-proxy.ts';
import type { Run, RunRequest } from './world.ts';

/** A program that could not be started or had to be stopped. The message is a clause without a final period. */
export class RunError extends Error {
  override readonly name = 'RunError';
  readonly reason: 'missing' | 'timeout' | 'stopped' | 'unstartable' | 'output';
  /** The end of its output so far. */
  readonly output: string;

  constructor(
    reason: RunError['reason'],
    message: string,
    { output = '', cause }: { output?: string; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.reason = reason;
    this.output = output;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What programs need to work at all. Every other variable of the hub's environment may be a secret. */
const PASSED_ON = [
  /^(PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|PATHEXT|COMSPEC)$/i,
  /^LC_/,
  /^(HTTP|HTTPS|ALL|NO|FTP)_PROXY$/i,
  /^(SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|NODE_EXTRA_CA_CERTS|GIT_SSL_CAINFO|PIP_CERT)$/,
  // The locations of container engines and their settings.
  /^(DOCKER_HOST|DOCKER_CONTEXT|DOCKER_CONFIG|DOCKER_CERT_PATH|DOCKER_TLS_VERIFY|CONTAINER_HOST|XDG_RUNTIME_DIR)$/,
];
const KEPT_OUTPUT_BYTES = 65_536;
/** If only the end of the output is kept, a program may write a lot; but an endless writer is stopped before its timeout. */
const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;
/** npm would treat an empty list as unset. */
const NO_HOST = 'no-host.invalid';
/** Time between asking a program to stop and killing it. */
const GRACE_MS = 2_000;

/** If one of these is set, encrypted traffic goes through the operator's proxy. */
const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'];

/** `environment` is the hub's own; only its safe variables are passed on. */
export function createRun(environment: Environment, proxy?: Pick<GuardedProxy, 'url'>): Run {
  const ownProxy = PROXIES.map((name) => environment[name]).find(Boolean);

  async function guard({ isGuarded }: RunRequest): Promise<Record<string, string>> {
    if (!isGuarded) return {};
    // The operator's proxy may be the only way out, and it decides where connections lead; nothing may bypass it.
    if (ownProxy) return { NO_PROXY: '', no_proxy: '', ...ofNpm(ownProxy) };
    if (!proxy) throw new Error('There is no proxy to guard a program with.');
    const url = await proxy.url();
    const named = { HTTP_PROXY: url, HTTPS_PROXY: url, ALL_PROXY: url, NO_PROXY: '' };
    // Some programs read only the lower-case names.
    const small = Object.entries(named).map(([name, value]) => [name.toLowerCase(), value]);
    return { ...named, ...Object.fromEntries(small), ...ofNpm(url) };
  }

  const passedOn = Object.fromEntries(
    Object.entries(environment).filter(([name]) => PASSED_ON.some((pattern) => pattern.test(name))),
  );
  const inherited = ({ inherit = [] }: RunRequest) =>
    Object.fromEntries(inherit.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));

  return async (request) => {
    if (request.args.some((arg) => arg.includes('\0')))
      throw unstartable(request, 'an argument contains NUL', undefined);
    const { execa } = await import('execa');
    const child = execa(request.program, [...request.args], {
      cwd: request.cwd,
      env: { ...passedOn, ...inherited(request), ...(await guard(request)), ...request.env },
      extendEnv: false,
      stdin: 'ignore',
      buffer: false,
      reject: false,
      timeout: request.timeoutMs,
      cancelSignal: request.signal,
      killDescendants: true,
      forceKillAfterDelay: GRACE_MS,
      windowsHide: true,
    });
    let tooMuch: number | undefined;
    const endAfter = (stream: NodeJS.ReadableStream, keptBytes: number, mostBytes: number) =>
      keepEnd(stream, keptBytes, mostBytes, () => {
        tooMuch ??= mostBytes;
        child.kill('SIGKILL');
      });
    const { mostOutputBytes } = request;
    const stdout = endAfter(child.stdout, mostOutputBytes ?? KEPT_OUTPUT_BYTES, mostOutputBytes ?? MOST_OUTPUT_BYTES);
    const stderr = endAfter(child.stderr, KEPT_OUTPUT_BYTES, MOST_OUTPUT_BYTES);
    const release = endWithHub(child.pid);
    child.nodeChildProcess.once('exit', () => {
      // Kills processes that the program left behind: they would run without limits and keep its output open.
      child.kill('SIGKILL');
      release();
    });
    const { timedOut, isCanceled, code, exitCode, signal, cause } = await child;
    const output = `${stdout()}${stderr()}`;
    if (tooMuch !== undefined) throw tooMuchOutput(request, tooMuch);
    if (timedOut) throw tookTooLong(request, output);
    if (isCanceled) throw stopped(request, output);
    if (child.pid === undefined) throw unstartable(request, code ?? errorCode(cause), cause);
    return { exitCode: exitCode ?? signalExitCode(signal), stdout: stdout(), stderr: stderr() };
  };
}

/** For npm, a file in the target overrides the usual variables, but not these; npm ignores a value without a scheme. */
function ofNpm(proxy: string): Record<string, string> {
  const url = proxy.includes('://') ? proxy : `http://${proxy}`;
  return { npm_config_proxy: url, npm_config_https_proxy: url, npm_config_noproxy: NO_HOST };
}

/**
 * A killed hub cannot stop its programs, which would keep writing where the next install writes. A shell waits for a line
 * on its input: if the input ends without one, the hub has died, and the shell kills the group.
 */
function endWithHub(group: number | undefined): () => void {
  if (group === undefined || process.platform === 'win32') return () => {};
  const watcher = spawn('/bin/sh', ['-c', 'read -r line || kill -9 "-$1"', 'sh', String(group)], {
    cwd: '/',
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
    // Not in the hub's own group, so that killing that group does not kill the watcher first.
    detached: true,
  });
  // Without a shell, the program runs unwatched.
  watcher.on('error', () => {});
  watcher.stdin.on('error', () => {});
  watcher.unref();
  return () => watcher.stdin.end('done\n');
}

/** Keeps only the end, which is where programs report what went wrong. */
function keepEnd(
  stream: NodeJS.ReadableStream,
  keptBytes: number,
  mostBytes: number,
  onTooMuch: () => void,
): () => string {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let written = 0;
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    written += chunk.length;
    if (written > mostBytes) onTooMuch();
    // Not for every chunk, because concatenating copies all of them.
    if (bytes > 2 * keptBytes) {
      chunks = [Buffer.concat(chunks).subarray(-keptBytes)];
      bytes = keptBytes;
    }
  });
  return () => {
    const kept = Buffer.concat(chunks).subarray(-keptBytes).toString();
    // A cut-off word may be part of a URL with a secret, which could no longer be recognized.
    return written > keptBytes ? `…${kept.replace(/^\S+/, '')}` : kept;
  };
}

function signalExitCode(signal: string | undefined): number {
  return 128 + (constants.signals[signal as NodeJS.Signals] ?? 0);
}

function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

function tooMuchOutput({ program }: RunRequest, mostBytes: number): RunError {
  return new RunError('output', `${program} was stopped, because it wrote more than ${mostBytes} bytes`);
}

function tookTooLong({ program, timeoutMs }: RunRequest, output: string): RunError {
  return new RunError('timeout', `${program} was stopped, because it took longer than ${timeoutMs / 1000} s`, {
    output,
  });
}

function stopped({ program }: RunRequest, output: string): RunError {
  return new RunError('stopped', `${program} was stopped, because the hub is shutting down`, { output });
}

function unstartable({ program, cwd }: RunRequest, code: string | undefined, cause: unknown): RunError {
  if (code === 'ENOENT' && existsSync(cwd))
    return new RunError('missing', `${program} is not installed on this machine, or not on its PATH`, { cause });
  return new RunError('unstartable', `${program} could not be started (${code ?? 'unknown reason'})`, { cause });
}
