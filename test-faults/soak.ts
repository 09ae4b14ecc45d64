// Reads and syncs for a while: memory, handles and database size must stop growing.
import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import pg from 'pg';
import type { DatabaseAddress } from '../src/lib/net/address.ts';
import { aManifest } from '../test/support/builders.ts';
import { emptyDatabase } from '../test/support/databases/databases.ts';
import { startIndexServer } from '../test/support/servers/index-server.ts';
import { residentMb } from './clients.ts';
import { BOTH, type Fault, type Options } from './harness.ts';
import { assertHealthy, type FaultHub, startHub } from './hubs.ts';

const PATHS = [
  '/catalog?limit=50',
  '/catalog/search?q=tables&mode=keyword',
  '/catalog/search?q=pdf',
  '/v0.1/servers',
  '/metrics',
];
/** Allows for caches and garbage collection. */
const MOST_GROWTH = { mb: 150, handles: 20, databaseMb: 10 };

interface Sample {
  mb: number;
  handles: number;
  databaseMb: number;
}

export function soak({ soakSec }: Options): Fault[] {
  const name = `soak of ${soakSec} s: reads and syncs`;
  return [{ name, engines: BOTH, worksForMs: soakSec * 1_000, run: runSoak(soakSec) }];
}

function runSoak(seconds: number): Fault['run'] {
  return async (scope, engine, inject) => {
    const database = await emptyDatabase(scope, engine);
    const host = await startIndexServer(scope);
    const ids = Array.from({ length: 100 }, (_, count) => `server-${count}`);
    host.put(
      '/index.json',
      ids.map((id) => `${id}.json`),
    );
    const publish = (round: number) => {
      for (const id of ids) host.put(`/${id}.json`, aManifest({ id, name: id, summary: `Round ${round % 2}` }));
    };
    publish(0);
    const hub = await startHub(scope, database);
    await hub.ask('/remotes', { method: 'POST', body: { url: host.url('/index.json') } });
    await inject(async () => {
      const samples: Sample[] = [];
      const endAt = performance.now() + seconds * 1_000;
      for (let round = 1; performance.now() < endAt; round += 1) {
        publish(round);
        await work(hub);
        samples.push(await sample(hub, database));
      }
      await assertHealthy(hub);
      assertFlat(samples);
    });
  };
}

async function work(hub: FaultHub): Promise<void> {
  const syncing = hub.ask('/remotes/sync', { method: 'POST', body: {} });
  for (let count = 0; count < 20; count += 1)
    for (const path of PATHS) assert.equal((await hub.ask(path)).status, 200, path);
  assert.equal((await syncing).status, 200);
}

async function sample(hub: FaultHub, database: DatabaseAddress): Promise<Sample> {
  const handles = (await readdir(`/proc/${hub.pid}/fd`)).length;
  return { mb: await residentMb(hub.pid), handles, databaseMb: (await databaseBytes(database)) / 1_000_000 };
}

async function databaseBytes(database: DatabaseAddress): Promise<number> {
  if (database.engine === 'sqlite') return (await stat(database.path)).size;
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client
    .query('select pg_database_size(current_database()) as size')
    .finally(() => client.end());
  return Number(rows[0].size);
}

/** Ignores the first third, which is the warm-up. */
function assertFlat(samples: readonly Sample[]): void {
  const warm = samples[Math.floor(samples.length / 3)];
  const last = samples.at(-1);
  assert.ok(warm && last, 'nothing was sampled');
  for (const name of ['mb', 'handles', 'databaseMb'] as const) {
    const grown = last[name] - warm[name];
    assert.ok(grown <= MOST_GROWTH[name], `${name} grew from ${warm[name]} to ${last[name]}`);
  }
}
