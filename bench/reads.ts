// How many bare reads of an entity one hub answers: every entity once, then again and again: `npm run bench:reads`.
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
    entities: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '32' },
  },
});
const ENTITIES = Number(values.entities);
const CONNECTIONS = Number(values.connections);
const PORT = 18_443;

const folder = await mkdtemp(join(tmpdir(), 'hub-bench-'));
const postgres = await startPostgres();
const rows = [];
try {
  rows.push(await measure('sqlite', { DB_PATH: join(folder, 'catalog.sqlite') }));
  rows.push(await measure('postgres', { DATABASE_URL: postgres.url }));
} finally {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
console.table(rows);

async function measure(engine: string, database: Record<string, string>): Promise<Record<string, number | string>> {
  await fill(database);
  const startedAt = performance.now();
  const hub = spawn(process.execPath, ['src/bin/hub.ts', 'serve'], {
    env: { ...process.env, ...database, PORT: String(PORT) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    const startMs = await firstAnswer(startedAt);
    const first = await load({ amount: ENTITIES });
    const { requests, latency, non2xx, errors } = await load({ duration: Number(values.seconds) });
    return {
      engine,
      entities: ENTITIES,
      'start to first answer, ms': startMs,
      'first reads a second': Math.round(ENTITIES / first.duration),
      'reads a second': Math.round(requests.average),
      'p50 ms': latency.p50,
      'p99 ms': latency.p99,
      failures: non2xx + errors,
    };
  } finally {
    await stop(hub);
  }
}

function load(limit: { amount: number } | { duration: number }): Promise<autocannon.Result> {
  let connection = 0;
  return autocannon({
    url: `http://127.0.0.1:${PORT}`,
    connections: CONNECTIONS,
    ...limit,
    setupClient: (client) => client.setRequests(shareOf(connection++)),
  });
}

/** Every connection reads entities of its own, one after the other, and together they read them all. */
function shareOf(connection: number): { path: string }[] {
  const indexes = Array.from({ length: ENTITIES }, (_, index) => index);
  return indexes
    .filter((index) => index % CONNECTIONS === connection)
    .map((index) => ({ path: `/catalog/entities/tool:bench-${index}@1.0.0` }));
}

async function fill(database: Record<string, string>): Promise<void> {
  const world = testWorld();
  const hub = await createHub({ config: readConfig(database), world, baseUrl: () => '' });
  const sources = Array.from({ length: ENTITIES }, (_, index) => ({ document: aTool(index) }));
  while (sources.length > 0) await hub.load(sources.splice(0, 500));
  await hub.close();
  await world.close();
}

function aTool(index: number): object {
  const description = `Tool number ${index} of the benchmark: reads documents, finds what was asked for and answers in short sentences. `;
  return {
    type: 'tool',
    id: `bench-${index}`,
    name: `io.example.bench/tool-${index}`,
    version: '1.0.0',
    description: description.repeat(4),
    tags: ['bench', `group-${index % 50}`],
    links: { repository: `https://git.example.org/bench/tool-${index}` },
    mcp_registration: {
      tool: { name: `tool-${index}`, url: 'https://example.org', input_schema: { type: 'object', properties: {} } },
    },
  };
}

async function firstAnswer(startedAt: number): Promise<number> {
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${PORT}/health`).catch(() => undefined);
    if (response?.ok) return Math.round(performance.now() - startedAt);
    await sleep(5);
  }
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}
