// Runs a hub in its own process and measures it.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const PORT = 18_444;
const CLOCK_TICKS_PER_SECOND = 100;
export const HUB = `http://127.0.0.1:${PORT}`;

export interface HubProcess {
  /** Peak or current memory, in MB. */
  memory(which: 'peak' | 'now'): Promise<number | undefined>;
  /** Processor time since the process started, over all threads. */
  cpuSeconds(): Promise<number>;
  stop(): Promise<void>;
}

/** Resolves once the hub responds. */
export async function startHub(settings: Record<string, string>): Promise<HubProcess> {
  const hub = spawn(process.execPath, ['src/bin/hub.ts', 'serve'], {
    env: { ...process.env, ...settings, PORT: String(PORT), LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise<void>((resolve) =>
    hub.once('exit', (code, signal) => {
      if (code !== 0) console.error(`The hub ended with ${signal ?? code}.`);
      resolve();
    }),
  );
  while (!(await fetch(`${HUB}/health`).catch(() => undefined))?.ok) await sleep(20);
  return {
    async memory(which) {
      const status = await readFile(`/proc/${hub.pid}/status`, 'utf8').catch(() => '');
      const kilobytes = new RegExp(`${which === 'peak' ? 'VmHWM' : 'VmRSS'}:\\s+(\\d+)`).exec(status)?.[1];
      return kilobytes ? Math.round(Number(kilobytes) / 1024) : undefined;
    },
    async cpuSeconds() {
      const stat = await readFile(`/proc/${hub.pid}/stat`, 'utf8').catch(() => '');
      const [user, system] = stat.split(') ')[1]?.split(' ').slice(11, 13).map(Number) ?? [];
      return ((user ?? 0) + (system ?? 0)) / CLOCK_TICKS_PER_SECOND;
    },
    async stop() {
      hub.kill('SIGTERM');
      await ended;
    },
  };
}

export async function ask<T>(path: string, body?: unknown): Promise<T> {
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return (await (await fetch(`${HUB}${path}`, body === undefined ? {} : request)).json()) as T;
}

/** Polls `/health` until the returned function is called, which resolves to the 99th percentile in ms. */
export function watchHealth(): () => Promise<number> {
  const times: number[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      // A kept-alive connection may just have been closed; then the next request counts.
      const answer = await fetch(`${HUB}/health`).catch(() => undefined);
      if (answer) times.push(performance.now() - startedAt);
      await sleep(20);
    }
  })();
  return async () => {
    isOver = true;
    await watching;
    return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
  };
}

/** `index` is the address of the index. */
export async function startCatalogHost(words: readonly string[]): Promise<{ index: string; stop(): void }> {
  const host = spawn(process.execPath, ['bench/catalog-host.ts', ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  return { index: await firstLine(host), stop: () => void host.kill() };
}

async function firstLine(child: ChildProcess): Promise<string> {
  for await (const chunk of child.stdout ?? []) return String(chunk).trim();
  throw new Error('The host of the catalog did not start.');
}
