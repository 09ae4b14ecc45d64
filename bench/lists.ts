// How fast one hub lists and filters a large catalog, and tells callers that they have the answer: `npm run bench:lists`.
// Prints a table; nothing is asserted.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { readConfig } from '../src/config.ts';
import { createHub } from '../src/hub.ts';
import { startPostgres } from '../test/support/postgres-server.ts';
import { testWorld } from '../test/support/world.ts';

const { values } = parseArgs({
  options: {
    entities: { type: 'string', default: '100000' },
    requests: { type: 'string', default: '2000' },
  },
});
const ENTITIES = Number(values.entities);
const REQUESTS = Number(values.requests);
const PORT = 18_444;
const BASE = `http://127.0.0.1:${PORT}`;

/** Each request is another one: `n` counts them. */
const LOADS: { name: string; connections: number; path: (n: number) => string }[] = [
  { name: 'list, pages', connections: 1, path: (n) => `/catalog/search?offset=${n * 20}` },
  { name: 'list, one type', connections: 1, path: (n) => `/catalog/search?type=agent&offset=${n}` },
  { name: 'list, newest versions', connections: 1, path: (n) => `/catalog/search?versions=latest&offset=${n * 10}` },
  { name: 'filter, a tag', connections: 1, path: (n) => `/catalog/search?capabilities=group-${n}` },
  {
    name: 'filter, a transport and a tag',
    connections: 1,
    path: (n) => `/catalog/search?transports=stdio&capabilities=half-${n % 2}&offset=${n}`,
  },
  { name: 'list with facets', connections: 1, path: (n) => `/catalog/search?facets=true&offset=${n}` },
  { name: 'list, pages, 8 at once', connections: 8, path: (n) => `/catalog/search?offset=${n * 20}` },
];

const folder = await mkdtemp(join(tmpdir(), 'hub-bench-'));
const postgres = await startPostgres();
const rows: Record<string, number | string>[] = [];
try {
  await measure('sqlite', { DB_PATH: join(folder, 'catalog.sqlite') });
  await measure('postgres', { DATABASE_URL: postgres.url });
} finally {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
console.table(rows);

async function measure(engine: string, database: Record<string, string>): Promise<void> {
  await fill(database);
  const hub = spawn(process.execPath, ['src/bin/hub.ts', 'serve'], {
    env: { ...process.env, ...database, PORT: String(PORT), SEARCH_MODE: 'keyword' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    const { etag, firstListMs } = await firstList();
    for (const { name, connections, path } of LOADS) {
      const requests = Array.from({ length: REQUESTS }, (_, n) => ({ path: path(n) }));
      rows.push(tableRow(engine, name, await load(requests, connections)));
    }
    const known = [{ path: '/catalog/search?q=reads+documents', headers: { 'if-none-match': '*' } }];
    rows.push(tableRow(engine, '304', await load(known, 32, 20_000)));
    rows.push({ engine, what: `first list after the start, ${etag ? '' : 'no '}tag`, 'p50 ms': firstListMs });
  } finally {
    await stop(hub);
  }
}

function tableRow(engine: string, what: string, { requests, latency, non2xx, errors }: autocannon.Result) {
  return {
    engine,
    what,
    'requests a second': Math.round(requests.average),
    'p50 ms': latency.p50,
    'p99 ms': latency.p99,
    'not 200': non2xx + errors,
  };
}

/** Every connection has requests of its own. */
function load(
  requests: readonly autocannon.Request[],
  connections: number,
  amount = requests.length,
): Promise<autocannon.Result> {
  let connection = 0;
  return autocannon({
    url: BASE,
    connections,
    amount,
    setupClient: (client) => {
      const own = connection++;
      const share = requests.filter((_, index) => requests.length < connections || index % connections === own);
      client.setRequests(share);
    },
  });
}

async function fill(database: Record<string, string>): Promise<void> {
  const world = testWorld();
  const hub = await createHub({ config: readConfig(database), world, baseUrl: () => '' });
  const sources = Array.from({ length: ENTITIES }, (_, index) => ({ document: anEntity(index) }));
  while (sources.length > 0) await hub.load(sources.splice(0, 500));
  await hub.close();
  await world.close();
}

/** Three versions of a name; few distinct texts, so that embedding them takes no part in what is measured. */
function anEntity(index: number): object {
  const thing = Math.floor(index / 3);
  const type = thing % 50 === 0 ? 'agent' : thing % 2 === 0 ? 'tool' : 'mcp_server';
  return {
    type,
    id: `bench-${thing}`,
    name: `io.example.bench/thing-${thing}`,
    title: `Thing of group ${thing % 200}`,
    version: `1.${index % 3}.0`,
    description: `Reads documents of group ${thing % 200}, finds what was asked for and answers in short sentences.`,
    tags: ['bench', `group-${thing % 2000}`, `half-${thing % 2}`],
    ...(type === 'tool' ? {} : { mcp_registration: { server: { transport: thing % 3 ? 'STDIO' : 'SSE' } } }),
  };
}

async function firstList(): Promise<{ etag: string | null; firstListMs: number }> {
  for (;;) {
    const startedAt = performance.now();
    const response = await fetch(`${BASE}/catalog/search`).catch(() => undefined);
    if (response?.ok) {
      await response.text();
      return { etag: response.headers.get('etag'), firstListMs: Math.round(performance.now() - startedAt) };
    }
    await sleep(5);
  }
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}
