// PostgreSQL locks, and the work under them, when the lock's connection is lost.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import pg from 'pg';
import { waitForDatabase } from '../../../src/store/database.ts';
import { tryLock } from '../../../src/store/dialects/postgres-lock.ts';
import { hubOn } from '../../remotes/hubs.ts';
import { databaseProxy } from '../../support/databases/database-proxy.ts';
import { testOnPostgres } from '../../support/databases/databases.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';
import { until } from '../../support/until.ts';
import { testWorld } from '../../support/world.ts';

/** Long enough for a busy machine. */
const TIMES = { silenceMs: 60_000, heartbeatMs: 100, answerTimeoutMs: 30_000 };

testOnPostgres('lock: has one holder at a time, and the next after its release', async (_t, { url }) => {
  const first = await tryLock(url, 'sync');
  assert.ok(first);
  assert.equal(await tryLock(url, 'sync'), undefined);
  await first.release();
  const second = await tryLock(url, 'sync');
  assert.ok(second);
  await second.release();
  assert.equal(first.lost?.aborted, false);
});

testOnPostgres(
  'lock: a holder keeps its session busy, which restarts the time limit of the session',
  async (_t, { url }) => {
    const lock = await tryLock(url, 'sync', TIMES);
    const beats = new Set<string>();
    await until(async () => {
      const sessions = await onServer<{ at: string }>(
        url,
        `select state_change::text as at from pg_stat_activity
       where datname = current_database() and application_name = 'catalog-hub lock' and state = 'idle'`,
      );
      for (const { at } of sessions) beats.add(at);
      return beats.size > 2;
    });
    assert.equal(await tryLock(url, 'sync'), undefined);
    assert.equal(lock?.lost?.aborted, false);
    await lock?.release();
  },
);

testOnPostgres('lock: another hub takes over from a holder that vanished', async (t, { url }) => {
  const proxy = await databaseProxy(t, url);
  const lock = await tryLock(proxy.url, 'sync', { silenceMs: 5_000, heartbeatMs: 200, answerTimeoutMs: 5_000 });
  assert.ok(lock?.lost);
  proxy.swallowPackets();
  await until(() => lock.lost?.aborted === true);
  let next: Awaited<ReturnType<typeof tryLock>>;
  await until(async () => {
    next = await tryLock(url, 'sync');
    return next !== undefined;
  });
  await Promise.all([lock.release(), next?.release()]);
});

test('lock: a server that accepts a connection and stays silent is unavailable', async (t) => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const asked = tryLock(`postgres://hub:hub@127.0.0.1:${port}/hub`, 'sync', { ...TIMES, answerTimeoutMs: 100 });
  await assert.rejects(asked, { code: 'database_unavailable' });
});

testOnPostgres('lock: a sync that loses its lock stops, and another can start', async (t, address) => {
  const host = await startIndexServer(t);
  let asked = 0;
  host.answer('/index.json', (_request, response) => {
    asked += 1;
    if (asked > 1) response.end('[]');
  });
  const settings = { HUB_REMOTES: host.url('/index.json') };
  const [one, other] = [await hubOn(t, address, settings), await hubOn(t, address, settings)];
  const syncing = one.hub.syncRemotes();
  const stopped = assert.rejects(syncing, { code: 'database_unavailable' });
  await until(() => asked === 1);
  await onServer(
    address.url,
    `select pg_terminate_backend(pid) from pg_locks join pg_database on pg_database.oid = pg_locks.database
     where locktype = 'advisory' and datname = current_database()
       and ((classid::bigint << 32) | objid::bigint) = hashtextextended('sync', 0)`,
  );
  await stopped;
  assert.deepEqual((await other.hub.syncRemotes()).errors, {});
});

testOnPostgres('start: waits for a database that is not up yet', async (t, address) => {
  const world = testWorld();
  const target = new URL(address.url);
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    for (const socket of [client, server]) socket.on('error', () => {});
    client.pipe(server).pipe(client);
  });
  // Reserves a port and keeps it closed until the hub has tried it.
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const { port } = proxy.address() as { port: number };
  await new Promise((resolve) => proxy.close(resolve));
  t.after(() => proxy.close());
  target.port = String(port);
  const opening = waitForDatabase(
    { ...address, url: target.href },
    { metrics: world.metrics, forMs: 60_000, signal: new AbortController().signal, log: world.log },
  );
  await until(() => world.logged.some(({ message }) => /^Waiting for the database/.test(message)));
  target.port = new URL(address.url).port;
  await once(proxy.listen(port, '127.0.0.1'), 'listening');
  await (await opening).close();
});

async function onServer<Row extends pg.QueryResultRow>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Row>(statement).finally(() => client.end());
  return rows;
}
