import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { PostgresAdapter, sql } from 'kysely';
import { readConfig } from '../../../src/config.ts';
import { createServer } from '../../../src/http/server.ts';
import { createHub } from '../../../src/hub/hub.ts';
import type { DatabaseAddress } from '../../../src/lib/net/address.ts';
import { openDatabase } from '../../../src/store/database.ts';
import type { Dialect } from '../../../src/store/dialects/dialect.ts';
import { openConnections, openPostgres } from '../../../src/store/dialects/postgres.ts';
import { aManifest } from '../../support/builders.ts';
import { type DatabaseProxy, databaseProxy } from '../../support/databases/database-proxy.ts';
import { barePostgres, testOnPostgres } from '../../support/databases/databases.ts';
import { until } from '../../support/until.ts';
import { testWorld } from '../../support/world.ts';

type PostgresAddress = Extract<DatabaseAddress, { engine: 'postgres' }>;

const UNAVAILABLE = { name: 'HubError', code: 'database_unavailable' };

testOnPostgres('connections that lose all packets are replaced after one timeout', async (t, address) => {
  const proxy = await databaseProxy(t, address.url);
  const database = { ...address, url: proxy.url };
  const config = { ...readConfig({}), database };
  const world = testWorld();
  const hub = await createHub({ config, world, baseUrl: () => 'http://hub.test' });
  const app = await createServer({ hub, config, world });
  t.after(async () => {
    await app.close();
    await hub.close();
    await world.close();
  });
  await hub.load([{ document: aManifest() }]);
  // Lookups, which time out first.
  const paths = ['/catalog/entities/mcp_server:pdf-tables', '/catalog/manifest/mcp_server:pdf-tables'];
  const round = async () => {
    const answers = await Promise.all([...paths, ...paths].map((url) => app.inject({ url })));
    return answers.map(({ statusCode }) => statusCode);
  };
  assert.deepEqual(new Set(await round()), new Set([200]));

  proxy.swallowPackets();
  const connectionsBefore = proxy.connectionCount();
  for (const status of await round()) assert.ok(status === 200 || status === 503, String(status));
  assert.deepEqual(new Set(await round()), new Set([200]));
  assert.ok(proxy.connectionCount() > connectionsBefore);
});

testOnPostgres('one timeout also replaces the idle connections', async (t, address) => {
  const { dialect, proxy } = await openThroughProxy(t, address);
  const lookUp = () => sql`select 1`.execute(dialect.lookup);
  await Promise.all(Array.from({ length: 5 }, () => sql`select pg_sleep(0.2)`.execute(dialect.read)));

  proxy.swallowPackets();
  await assert.rejects(lookUp(), UNAVAILABLE);
  // The other four connections are dead as well; none of them may cost another timeout.
  for (let count = 0; count < 5; count += 1) await lookUp();
});

testOnPostgres(
  'a connection that breaks inside a transaction is reported as an unavailable database',
  async (t, address) => {
    const { dialect, proxy } = await openThroughProxy(t, address);
    const transaction = dialect.write.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx);
      proxy.breakConnections();
      await sql`select 1`.execute(tx);
    });
    await assert.rejects(transaction, UNAVAILABLE);
    await sql`select 1`.execute(dialect.write);
  },
);

testOnPostgres(
  'a server that became read-only is reported as unavailable and connected to again',
  async (t, address) => {
    const { dialect, proxy } = await openThroughProxy(t, address);
    const connectionsBefore = proxy.connectionCount();
    const transaction = dialect.write.transaction().execute(async (tx) => {
      await sql`set transaction read only`.execute(tx);
      await sql`update catalog_state set revision = revision`.execute(tx);
    });
    await assert.rejects(transaction, UNAVAILABLE);
    await sql`update catalog_state set revision = revision`.execute(dialect.write);
    assert.ok(proxy.connectionCount() > connectionsBefore);
  },
);

testOnPostgres('a hub that was paused inside a transaction reports an unavailable database', async (t, address) => {
  const dialect = openPostgres(address, { metrics: { observeQuery() {} } }, 200);
  t.after(() => dialect.close());
  const transaction = dialect.write.transaction().execute(async (tx) => {
    await sql`select 1`.execute(tx);
    // Blocks this whole process, as when its machine is paused.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
    await sql`select 1`.execute(tx);
  });
  await assert.rejects(transaction, UNAVAILABLE);
});

testOnPostgres('an error of a statement is not mistaken for an unavailable database', async (t, address) => {
  const { dialect, proxy } = await openThroughProxy(t, address);
  // The connection for migrations is closed by now.
  await sql`select 1`.execute(dialect.write);
  const connectionsBefore = proxy.connectionCount();
  const transaction = dialect.write.transaction().execute((tx) => sql`select * from no_such_table`.execute(tx));
  await assert.rejects(transaction, /no_such_table/);
  await sql`select 1`.execute(dialect.write);
  assert.equal(proxy.connectionCount(), connectionsBefore);
});

testOnPostgres('a hub that vanishes during a migration does not keep others from starting', async (t) => {
  const address = await barePostgres(t);
  const proxy = await databaseProxy(t, address.url);
  const metrics = { observeQuery() {} };
  const vanishing = openPostgres({ ...address, url: proxy.url }, { metrics }, 1_000);
  const migrations = vanishing.openMigrations?.();
  const migrating = migrations?.db.connection().execute(async (connection) => {
    await new PostgresAdapter().acquireMigrationLock(connection, MIGRATION_LOCK);
    await connection.transaction().execute(async (tx) => {
      await sql`create table catalog_state (id integer)`.execute(tx);
      proxy.swallowPackets();
      await sql`select 1`.execute(tx);
    });
  });
  const ended = assert.rejects(migrating ?? Promise.resolve());
  const others = openConnections(address, { metrics, settings: {} });
  await until(async () => {
    const { rows } = await sql`
      select 1 from pg_locks join pg_database on pg_database.oid = pg_locks.database
      where locktype = 'advisory' and datname = current_database()`.execute(others.db);
    return rows.length === 0;
  });
  await (await openDatabase(address, { metrics })).close();
  proxy.breakConnections();
  await ended;
  await Promise.all([others.close(), migrations?.close(), vanishing.close()]);
});

testOnPostgres('a hub that vanishes during a write does not keep others from writing', async (t, address) => {
  const proxy = await databaseProxy(t, address.url);
  const metrics = { observeQuery() {} };
  const vanishing = openPostgres({ ...address, url: proxy.url }, { metrics }, 1_000);
  const others = openConnections(address, { metrics, settings: {} });
  const change = sql`update registry_state set hub_id = 'changed'`;
  const { promise: held, resolve: hold } = Promise.withResolvers<void>();
  const writing = vanishing.write.transaction().execute(async (tx) => {
    await change.execute(tx);
    proxy.swallowPackets();
    hold();
    await sql`select 1`.execute(tx);
  });
  const ended = assert.rejects(writing);
  await held;
  await change.execute(others.db);
  proxy.breakConnections();
  await ended;
  await Promise.all([others.close(), vanishing.close()]);
});

/** PostgreSQL's lock does not use it. */
const MIGRATION_LOCK = { lockTable: 'kysely_migration_lock', lockRowId: 'migration_lock' };

async function openThroughProxy(
  t: TestContext,
  address: PostgresAddress,
): Promise<{ dialect: Dialect; proxy: DatabaseProxy }> {
  const proxy = await databaseProxy(t, address.url);
  const dialect = await openDatabase({ ...address, url: proxy.url }, { metrics: { observeQuery() {} } });
  t.after(() => dialect.close());
  return { dialect, proxy };
}
