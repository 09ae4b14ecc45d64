// PostgreSQL that crashes, hangs, or closes connections during writes: callers see only 503, and no acknowledged write is lost.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type DatabaseProxy, databaseProxy } from '../test/support/databases/database-proxy.ts';
import { emptyDatabase } from '../test/support/databases/databases.ts';
import type { Engine, Fault, Options } from './harness.ts';
import { type FaultHub, recovered, startHub } from './hubs.ts';

const POSTGRES: Engine[] = ['postgres'];
/** Each hang costs a timeout. */
const ROUNDS = { quick: 5, hanging: 1 };

type Harm = (proxy: DatabaseProxy, url: string) => void | Promise<void>;

const HARMS: Record<string, Harm> = {
  'connections broken during writes': (proxy) => proxy.breakConnections(),
  'connections that hang without closing': (proxy) => proxy.swallowPackets(),
  'sessions ended by the server': (_proxy, url) => endSessions(url),
};

export function databaseFaults(_options: Options): Fault[] {
  return Object.entries(HARMS).map(([name, harm]) => ({
    name,
    engines: POSTGRES,
    run: runHarm(harm, name.includes('hang') ? ROUNDS.hanging : ROUNDS.quick),
  }));
}

function runHarm(harm: Harm, rounds: number): Fault['run'] {
  return async (scope, engine, inject) => {
    const database = await emptyDatabase(scope, engine);
    assert.equal(database.engine, 'postgres');
    const proxy = await databaseProxy(scope, database.url);
    const hub = await startHub(scope, { ...database, url: proxy.url });
    for (let round = 0; round < rounds; round += 1) {
      await inject(async () => {
        const writing = writeRemotes(hub, round);
        await sleep(100 + round * 50);
        await harm(proxy, database.url);
        const { statuses, acknowledged } = await writing;
        const odd = statuses.filter((status) => status !== 201 && status !== 503);
        assert.deepEqual(odd, []);
        const remotes = await recovered(hub);
        const stored = new Set(remotes.map(({ url }) => url));
        assert.deepEqual(
          acknowledged.filter((url) => !stored.has(url)),
          [],
        );
      });
    }
  };
}

async function writeRemotes(hub: FaultHub, round: number): Promise<{ statuses: number[]; acknowledged: string[] }> {
  const acknowledged: string[] = [];
  const write = async (count: number) => {
    const url = `https://remote-${round}-${count}.example/index.json`;
    const { status } = await hub.ask('/remotes', { method: 'POST', body: { url } });
    if (status === 201) acknowledged.push(url);
    return status;
  };
  const lanes = Array.from({ length: 4 }, async (_, lane) => {
    const statuses: number[] = [];
    for (let count = 0; count < 15; count += 1) statuses.push(await write(lane * 100 + count));
    return statuses;
  });
  return { statuses: (await Promise.all(lanes)).flat(), acknowledged };
}

async function endSessions(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const statement = `select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`;
  await client.query(statement).finally(() => client.end());
}
