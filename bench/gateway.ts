// Measures the time and the number of calls that registering many servers takes: `npm run bench:gateway`. Prints a table; asserts nothing.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readConfig } from '../src/config.ts';
import { createHub } from '../src/hub/hub.ts';
import { startPostgres } from '../test/support/databases/postgres-server.ts';
import { SECRET, startFakeGateway } from '../test/support/servers/fake-gateway.ts';
import { testWorld } from '../test/support/world.ts';

const { values } = parseArgs({
  options: {
    servers: { type: 'string', default: '1000' },
    /** Servers without an address, which need no call. */
    local: { type: 'string', default: '0' },
    latency: { type: 'string', default: '10' },
    concurrency: { type: 'string', default: '4' },
    engine: { type: 'string', default: 'both' },
  },
});
const SERVERS = Number(values.servers);
const LOCAL = Number(values.local);
const PAGE = 500;

const folder = await mkdtemp(join(tmpdir(), 'hub-bench-'));
const rows: Record<string, unknown>[] = [];
try {
  if (values.engine !== 'postgres') await measure('sqlite', { DB_PATH: join(folder, 'catalog.sqlite') });
  if (values.engine !== 'sqlite') {
    const postgres = await startPostgres();
    await measure('postgres', { DATABASE_URL: postgres.url }).finally(() => postgres.stop());
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.table(rows);

async function measure(engine: string, database: Record<string, string>): Promise<void> {
  const endings: (() => unknown)[] = [];
  const after = (ending: () => unknown) => void endings.push(ending);
  const world = testWorld();
  const gateway = await startFakeGateway(
    { after },
    { latencyMs: Number(values.latency), credentials: { now: world.now } },
  );
  const settings = {
    ...database,
    MCP_GATEWAY_URL: gateway.url,
    JWT_SECRET_KEY: SECRET,
    GATEWAY_CONCURRENCY: values.concurrency,
  };
  const hub = await createHub({ config: readConfig(settings), world, baseUrl: () => 'http://hub.bench' });
  for (let from = 0; from < SERVERS + LOCAL; from += PAGE) {
    const numbers = Array.from({ length: Math.min(PAGE, SERVERS + LOCAL - from) }, (_, index) => from + index);
    await hub.load(numbers.map((number) => ({ document: manifest(number) })));
  }
  for (const run of ['first sync', 'second sync, nothing to do']) {
    gateway.calls.length = 0;
    const startedAt = performance.now();
    const { registered, failed } = await hub.syncRemotes();
    const seconds = Math.round((performance.now() - startedAt) / 10) / 100;
    rows.push({ engine, run, seconds, calls: gateway.calls.length, registered, failed });
  }
  await hub.close();
  await world.close();
  for (const ending of endings) await ending();
}

function manifest(number: number): object {
  const server =
    number < SERVERS ? { transport: 'SSE', url: `https://mcp.example.org/${number}/sse` } : { transport: 'STDIO' };
  return {
    type: 'mcp_server',
    id: `bench-${number}`,
    name: `io.example.bench/server-${number}`,
    version: '1.0.0',
    description: `Server number ${number} of the benchmark: reads documents and answers in short sentences.`,
    mcp_registration: { server },
  };
}
