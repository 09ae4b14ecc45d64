// How fast a published catalog is ingested, and how cheap it is to stay current: `npm run bench:ingest -- --data FILE`.
// FILE is a catalog as lines of JSON, `{"path", "manifest"}`, plain or brotli; without it, one of our own is made up.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/support/postgres-server.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    manifests: { type: 'string', default: '20000' },
    engine: { type: 'string', default: 'both' },
  },
});
const HUB_PORT = 18_444;
const HUB = `http://127.0.0.1:${HUB_PORT}`;

const folder = await mkdtemp(join(tmpdir(), 'hub-bench-'));
const host = spawn(process.execPath, ['bench/catalog-host.ts', values.data ?? '', values.manifests], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const index = await firstLine(host);
const postgres = await startPostgres();
const rows: Record<string, unknown>[] = [];
try {
  if (values.engine !== 'postgres') await measure('sqlite', { DB_PATH: join(folder, 'catalog.sqlite') });
  if (values.engine !== 'sqlite') await measure('postgres', { DATABASE_URL: postgres.url });
} finally {
  host.kill();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
console.table(rows);

async function measure(engine: string, database: Record<string, string>): Promise<void> {
  const hub = spawn(process.execPath, ['--max-semi-space-size=4', 'src/bin/hub.ts', 'serve'], {
    env: { ...process.env, ...database, PORT: String(HUB_PORT), LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    await untilReady();
    await fetch(`${HUB}/remotes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ url: index }),
    });
    const first = await ingest(hub, `${engine}, first`);
    await fetch(`${new URL(index).origin}/touch-index`);
    await ingest(hub, `${engine}, nothing changed, each manifest 304`, first);
    await ingest(hub, `${engine}, nothing changed, index 304`, first);
  } finally {
    const ended = new Promise((resolve) => hub.once('exit', resolve));
    hub.kill('SIGTERM');
    await ended;
  }
}

async function ingest(hub: ChildProcess, name: string, first?: number): Promise<number> {
  const watch = watchHealth();
  const startedAt = performance.now();
  const response = await fetch(`${HUB}/ingest`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ url: index }),
  });
  const { results } = (await response.json()) as { results: { error?: string; stats: Record<string, number> }[] };
  const seconds = (performance.now() - startedAt) / 1000;
  const { stats, error } = results[0] ?? { stats: {} };
  rows.push({
    run: name,
    seconds: round(seconds),
    'a second': Math.round((stats.manifests_seen ?? 0) / seconds),
    seen: stats.manifests_seen,
    created: stats.created,
    updated: stats.updated,
    unchanged: stats.unchanged,
    failed: stats.failed,
    'of the first, %': first ? round((seconds / first) * 100) : '',
    'health p99, ms': round(await watch()),
    'peak memory, MB': await peakMemoryMb(hub),
    ...(error ? { error } : {}),
  });
  console.log(rows.at(-1));
  return seconds;
}

/** Asks for the health all the time; the returned function stops it and tells the 99th percentile. */
function watchHealth(): () => Promise<number> {
  const times: number[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      await fetch(`${HUB}/health`);
      times.push(performance.now() - startedAt);
      await sleep(20);
    }
  })();
  return async () => {
    isOver = true;
    await watching;
    return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
  };
}

async function peakMemoryMb({ pid }: ChildProcess): Promise<number | undefined> {
  const { readFile } = await import('node:fs/promises');
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = /VmHWM:\s+(\d+)/.exec(status)?.[1];
  return kilobytes ? Math.round(Number(kilobytes) / 1024) : undefined;
}

async function untilReady(): Promise<void> {
  while (!(await fetch(`${HUB}/health`).catch(() => undefined))?.ok) await sleep(20);
}

async function firstLine(child: ChildProcess): Promise<string> {
  for await (const chunk of child.stdout ?? []) return String(chunk).trim();
  throw new Error('The host of the catalog did not start.');
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
