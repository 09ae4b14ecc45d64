// Measures how fast a published catalog is ingested, and how cheap later ingests are: `npm run bench:ingest -- --data FILE`.
// FILE is a catalog as JSON lines, `{"path", "manifest"}`, plain or brotli; without it, a catalog is generated.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/support/databases/postgres-server.ts';
import { ask, type HubProcess, startCatalogHost, startHub, watchHealth } from './hub-process.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    manifests: { type: 'string', default: '20000' },
    engine: { type: 'string', default: 'both' },
  },
});
const folder = await mkdtemp(join(tmpdir(), 'hub-bench-'));
const host = await startCatalogHost([values.data ?? '', values.manifests]);
const { index } = host;
const postgres = await startPostgres();
const rows: Record<string, unknown>[] = [];
try {
  if (values.engine !== 'postgres') await measure('sqlite', { DB_PATH: join(folder, 'catalog.sqlite') });
  if (values.engine !== 'sqlite') await measure('postgres', { DATABASE_URL: postgres.url });
} finally {
  host.stop();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
console.table(rows);

async function measure(engine: string, database: Record<string, string>): Promise<void> {
  const hub = await startHub(database);
  try {
    await ask('/remotes', { url: index });
    const first = await ingest(hub, `${engine}, first`);
    await fetch(`${new URL(index).origin}/touch-index`);
    await ingest(hub, `${engine}, nothing changed, each manifest 304`, first);
    await ingest(hub, `${engine}, nothing changed, index 304`, first);
  } finally {
    await hub.stop();
  }
}

async function ingest(hub: HubProcess, name: string, first?: number): Promise<number> {
  const watch = watchHealth();
  const [startedAt, cpuBefore] = [performance.now(), await hub.cpuSeconds()];
  const { results } = await ask<{ results: { error?: string; stats: Record<string, number> }[] }>('/ingest', {
    url: index,
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const cpuSeconds = (await hub.cpuSeconds()) - cpuBefore;
  const { stats, error } = results[0] ?? { stats: {} };
  rows.push({
    run: name,
    seconds: round(seconds),
    'per second': Math.round((stats.manifests_seen ?? 0) / seconds),
    'CPU, µs each': Math.round((cpuSeconds * 1e6) / (stats.manifests_seen ?? 0)),
    seen: stats.manifests_seen,
    created: stats.created,
    updated: stats.updated,
    unchanged: stats.unchanged,
    failed: stats.failed,
    '% of the first run': first ? round((seconds / first) * 100) : '',
    'health p99, ms': round(await watch()),
    'peak memory, MB': await hub.memory('peak'),
    ...(error ? { error } : {}),
  });
  console.log(rows.at(-1));
  return seconds;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
