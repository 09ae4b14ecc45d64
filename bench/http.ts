// Measures a hub with a full catalog over HTTP: searches, lists, entities, startup and memory.
// `npm run bench:http -- --data DIR`, with DIR as for `bench:search`. Prints a table; asserts nothing.
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { readConfig } from '../src/config.ts';
import { createHub } from '../src/hub/hub.ts';
import { pgvectorFiles } from '../test/support/databases/pgvector.ts';
import { startPostgres } from '../test/support/databases/postgres-server.ts';
import { testWorld } from '../test/support/world.ts';
import { ask, HUB, startHub } from './hub-process.ts';
import { loadJudgments, type SearchData } from './search-data.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: 'bench/search-data' },
    /** A SQLite file, reused if it exists, such as one from `bench:search -- --database`. */
    database: { type: 'string' },
    engine: { type: 'string', default: 'sqlite' },
    /** Value of SEARCH_BACKEND. */
    backend: { type: 'string', default: 'memory' },
    seconds: { type: 'string', default: '8' },
  },
});
const [catalog] = await loadJudgments(values.data);
const folder = await mkdtemp(join(tmpdir(), 'hub-bench-http-'));
const postgres =
  values.engine === 'postgres'
    ? await startPostgres({ pgvector: await pgvectorFiles(), settings: ['autovacuum=on'] })
    : undefined;
const rows: Record<string, number | string | undefined>[] = [];
try {
  await measure(catalog as SearchData);
} finally {
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
}
console.table(rows);

async function measure({ manifests, judgments }: SearchData): Promise<void> {
  const path = values.database ?? join(folder, 'catalog.sqlite');
  const settings: Record<string, string> = postgres
    ? { DATABASE_URL: postgres.url, SEARCH_BACKEND: values.backend }
    : { DB_PATH: path };
  if (postgres || !existsSync(path)) await fill(settings, manifests);
  await start('first start', settings, async () => undefined);
  await start('start', settings, async (memory) => {
    const queries = judgments.map(({ text }) => encodeURIComponent(text));
    const search = (mode: string) => (n: number) =>
      `/catalog/search?mode=${mode}&q=${queries[n % queries.length]}%20${n}`;
    const entities = (manifests as { type: string; id: string; version: string }[]).map(
      ({ type, id, version }) => `/catalog/entities/${encodeURIComponent(`${type}:${id}@${version}`)}`,
    );
    const filters = ['transports=stdio', 'type=mcp_server', 'providers=github', 'versions=latest', 'facets=true'];
    await load('hybrid search', 1, search('hybrid'));
    await load('hybrid search', 8, search('hybrid'));
    await load('keyword search', 8, search('keyword'));
    await load('list with filters', 8, (n) => `/catalog/search?${filters[n % filters.length]}&offset=${n}`);
    await load('entity, each once', 8, (n) => entities[(n * 7919) % entities.length] ?? '');
    await load('entity, the same 100', 32, (n) => entities[n % 100] ?? '');
    rows.push({ what: 'memory at the end', MB: await memory() });
  });
}

async function fill(settings: Record<string, string>, manifests: readonly object[]): Promise<void> {
  const world = testWorld();
  const hub = await createHub({
    config: readConfig({ ...settings, SEARCH_MODE: 'keyword' }),
    world,
    baseUrl: () => '',
  });
  for (let first = 0; first < manifests.length; first += 500)
    await hub.load(manifests.slice(first, first + 500).map((document) => ({ document })));
  await hub.close();
  await world.close();
}

async function start(
  what: string,
  settings: Record<string, string>,
  work: (memory: () => Promise<number | undefined>) => Promise<void>,
): Promise<void> {
  const startedAt = performance.now();
  const hub = await startHub(settings);
  try {
    const isWhole = async () =>
      (await ask<{ degraded?: string }>('/catalog/search?mode=hybrid&q=read+tables+from+pdf')).degraded === undefined;
    while (!(await isWhole())) await sleep(50);
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    rows.push({ what: `${what}, until search answers in full`, seconds, MB: await hub.memory('now') });
    await work(() => hub.memory('now'));
  } finally {
    await hub.stop();
  }
}

/** `n` increases with every request over all connections, so that each can be different. */
async function load(what: string, connections: number, path: (n: number) => string): Promise<void> {
  let next = 0;
  const { requests, latency, non2xx, errors } = await autocannon({
    url: HUB,
    connections,
    duration: Number(values.seconds),
    requests: [{ setupRequest: (request) => ({ ...request, path: path(next++) }) }],
  });
  rows.push({
    what: `${what}, ${connections} connections`,
    'per second': Math.round(requests.average),
    'p50 ms': latency.p50,
    'p99 ms': latency.p99,
    'not 200': non2xx + errors,
  });
  console.log(rows.at(-1));
}
