// Runs the executable in its own process and folder, with only the settings of the test.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Ending, tempDir } from '../support/databases/databases.ts';

export const EXECUTABLE = fileURLToPath(new URL('../../src/bin/hub.ts', import.meta.url));

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  /** The address in the start line. */
  address: string;
  pid: number;
  /** The lines printed for people so far. */
  said: () => string[];
  logged: () => string;
  kill: (signal: NodeJS.Signals) => void;
  ended: Promise<Ended>;
}

export interface Start {
  args?: string[];
  settings?: Record<string, string>;
  /** The working folder; a new one unless given. */
  folder?: string;
}

/** Runs the executable until it exits. */
export async function run(t: Ending, start: Start): Promise<Ended> {
  return (await launch(t, start)).ended;
}

/** Starts the executable without waiting. */
export async function start(t: Ending, given: Start): Promise<Pick<Running, 'kill' | 'ended'>> {
  const { child, ended } = await launch(t, given);
  return { kill: (signal) => child.kill(signal), ended };
}

/** Starts `hub serve` and waits until it reports that it listens. */
export async function serve(t: Ending, { args = [], settings, folder }: Start = {}): Promise<Running> {
  const { child, output, ended } = await launch(t, {
    args: ['serve', ...args],
    settings: { PORT: '0', ...settings },
    folder,
  });
  const listening = /listens on (\S+)/;
  while (!listening.test(output.stderr)) {
    const stopped = await Promise.race([ended, once(child.stderr ?? child, 'data').then(() => undefined)]);
    if (stopped) throw new Error(`The hub ended with ${stopped.code}: ${stopped.stderr}${stopped.stdout}`);
  }
  return {
    address: listening.exec(output.stderr)?.[1] ?? '',
    pid: child.pid ?? 0,
    said: () => lines(output.stderr),
    logged: () => output.stdout,
    kill: (signal) => child.kill(signal),
    ended,
  };
}

export function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

async function launch(t: Ending, { args = [], settings = {}, folder }: Start) {
  const child: ChildProcess = spawn(process.execPath, [EXECUTABLE, ...args], {
    cwd: folder ?? (await tempDir(t)),
    env: { PATH: process.env.PATH, ...withoutPort(settings) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  const ended = once(child, 'close').then(([code, signal]): Ended => ({ code, signal, ...output }));
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, output, ended };
}

/** `PORT: ''` in a test leaves PORT unset. */
function withoutPort({ PORT, ...rest }: Record<string, string>): Record<string, string> {
  return PORT ? { ...rest, PORT } : rest;
}
