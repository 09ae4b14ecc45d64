import assert from 'node:assert/strict';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { entityFromManifest } from '../../src/catalog/entity.ts';
import { HubError } from '../../src/errors.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import { createCatalogStore } from '../../src/store/catalog/catalog-store.ts';
import { openDatabase } from '../../src/store/database.ts';
import { openSqlite } from '../../src/store/dialects/sqlite.ts';
import { historyOf } from '../../src/store/gateway/registration-days.ts';
import { createRevision } from '../../src/store/revision.ts';
import { aManifest } from '../support/builders.ts';
import { bareDatabase, tempDir, testOnEveryEngine, testOnPostgres } from '../support/databases/databases.ts';

const dependencies = { metrics: createMetrics() };

testOnEveryEngine('open: hubs that start together on an empty database do not collide', async (t, { engine }) => {
  const address = await bareDatabase(t, engine);
  const opened = await Promise.all(Array.from({ length: 4 }, () => openDatabase(address, dependencies)));
  t.after(() => Promise.all(opened.map((dialect) => dialect.close())));
  for (const dialect of opened) assert.equal(await createRevision(dialect).current(), 0);
});

testOnEveryEngine('open: an existing database keeps its data', async (t, address) => {
  const first = await openDatabase(address, dependencies);
  const entity = entityFromManifest({ document: aManifest() });
  await createCatalogStore(first, createRevision(first)).save([entity], new Date());
  await first.close();
  const second = await openDatabase(address, dependencies);
  t.after(() => second.close());
  const stored = await createCatalogStore(second, createRevision(second)).get(entity);
  assert.equal(stored?.manifestDigest, entity.manifestDigest);
});

/** Undoes the migrations after 0016. */
const WITHOUT_LATER_TABLES = [
  sql`drop index entity_to_approve`,
  sql`drop index entity_versions`,
  sql`create index entity_versions on entity (type, name, version_key)`,
  sql`alter table entity drop column missing_reason`,
  ...['facts', 'brings', 'is_hidden', 'is_held', 'is_install_refused', 'needs_approval', 'trust', 'trust_due_at'].map(
    (column) => sql`alter table entity drop column ${sql.ref(column)}`,
  ),
  sql`alter table remote drop column register`,
  sql`drop table policy`,
  sql`drop table approval`,
  sql`drop table access_token`,
  sql`drop table audit_entry`,
  ...['state', 'member', 'server', 'document', 'view'].map((part) => sql`drop table ${sql.table(`registry_${part}`)}`),
  sql`drop table audit_end`,
  sql`alter table catalog_state drop column event_position`,
  sql`drop table event`,
  sql`drop table webhook`,
  sql`drop table webhook_delivery`,
  sql`drop table registration_day`,
];

testOnEveryEngine(
  'open: an old database is migrated: manifests move to their own table, registrations are counted by day',
  async (t, address) => {
    const before = await openDatabase(address, dependencies);
    const entity = entityFromManifest({ document: aManifest() });
    await createCatalogStore(before, createRevision(before)).save([entity], new Date());
    const registeredAt = '2026-06-01T12:00:00.000Z';
    for (const step of [
      sql`update entity set gateway_registered_at = ${registeredAt}`,
      ...WITHOUT_LATER_TABLES,
      sql`alter table entity add column manifest text`,
      sql`update entity set manifest = (select text from manifest where manifest.uid = entity.uid)`,
      sql`drop table manifest`,
      sql`create table former_gateway_item (uid text)`,
      sql`delete from kysely_migration where name >= '0016'`,
    ])
      await step.execute(before.write);
    await before.close();
    const after = await openDatabase(address, dependencies);
    t.after(() => after.close());
    const store = createCatalogStore(after, createRevision(after));
    assert.equal((await store.get(entity))?.manifestText, entity.manifestText);
    assert.deepEqual(await historyOf(after.read, 30), { days: [{ day: '2026-06-01', registered: 1 }], total: 1 });
    await store.remove(entity.uid);
    assert.deepEqual(await after.read.selectFrom('manifest').select('uid').execute(), []);
  },
);

testOnEveryEngine('open: refuses a database of a newer version with a clear message', async (_t, address) => {
  const dialect = await openDatabase(address, dependencies);
  await dialect.write
    .withTables<{ kysely_migration: { name: string; timestamp: string } }>()
    .insertInto('kysely_migration')
    .values({ name: '9999_from_the_future', timestamp: new Date().toISOString() })
    .execute();
  await dialect.close();
  await assert.rejects(openDatabase(address, dependencies), {
    name: 'StartError',
    message: 'The database was written by a newer version of the hub; start that version, or use another database.',
  });
});

testOnEveryEngine('open: one hub reads what another writes to the same database', async (t, address) => {
  const [writer, reader] = await Promise.all([
    openDatabase(address, dependencies),
    openDatabase(address, dependencies),
  ]);
  t.after(() => Promise.all([writer.close(), reader.close()]));
  const entity = entityFromManifest({ document: aManifest() });
  await createCatalogStore(writer, createRevision(writer)).save([entity], new Date());
  const read = createCatalogStore(reader, createRevision(reader));
  assert.equal((await read.get(entity))?.uid, entity.uid);
  assert.equal(await read.revision(), 1);
});

testOnEveryEngine('insertRows: inserts every row, in a transaction all or none', async (t, address) => {
  const dialect = await openDatabase(address, dependencies);
  t.after(() => dialect.close());
  const insert = (...uids: (string | null)[]) => {
    const rows = uids.map((uid) => ({ revision: 7, uid }));
    return dialect.insertRows('catalog_change', ['revision', 'uid', 'stamp'], rows);
  };
  const conflict = sql`on conflict (revision, uid) do update set stamp = ${'seen'} returning uid, stamp`;
  const returned = await dialect.write
    .transaction()
    .execute(async (tx) => [
      (await insert().execute(tx)).numAffectedRows,
      (await insert('b', "it's").execute(tx)).numAffectedRows,
      (await sql`${insert('c', 'b')} ${conflict}`.execute(tx)).rows,
    ]);
  const rows = [
    { uid: 'b', stamp: 'seen' },
    { uid: 'c', stamp: null },
  ];
  assert.deepEqual([...returned.slice(0, 2), new Set(returned[2] as object[])], [0n, 2n, new Set(rows)]);
  await assert.rejects(dialect.write.transaction().execute((tx) => insert('d', null).execute(tx)));
  const stored = await dialect.read.selectFrom('catalog_change').select('uid').where('revision', '=', 7).execute();
  assert.deepEqual(stored.map(({ uid }) => uid).toSorted(), ['b', 'c', "it's"]);
});

test('open: a file that is not a database stops the start with one line', async (t) => {
  const path = join(await tempDir(t), 'catalog.sqlite');
  await writeFile(path, 'This is a letter, and not a database at all.'.repeat(100));
  await assert.rejects(openDatabase({ engine: 'sqlite', path }, dependencies), {
    name: 'StartError',
    message: `The database (SQLite at ${path}) cannot be used: file is not a database.`,
  });
});

test('a damaged part of the file is reported when it is read', async (t) => {
  const path = join(await tempDir(t), 'hub.sqlite');
  await (await openDatabase({ engine: 'sqlite', path }, dependencies)).close();
  const file = await open(path, 'r+');
  await file.write(Buffer.alloc(4096, 7), 0, 4096, (rootPageOf(path, 'manifest') - 1) * 4096);
  await file.close();
  const damaged = await openDatabase({ engine: 'sqlite', path }, dependencies);
  t.after(() => damaged.close());
  const reading = damaged.read.selectFrom('manifest').selectAll().execute();
  await assert.rejects(reading, (error) => error instanceof HubError && /is damaged\. Restore/.test(error.message));
});

function rootPageOf(path: string, table: string): number {
  using database = new DatabaseSync(path);
  return Number(database.prepare('select rootpage from sqlite_schema where name = ?').get(table)?.rootpage);
}

test('open: an unreachable PostgreSQL stops the start with one line without the password', async () => {
  const url = 'postgres://hub:hush@127.0.0.1:1/catalog';
  await assert.rejects(openDatabase({ engine: 'postgres', url, poolSize: 1 }, dependencies), {
    name: 'StartError',
    message: 'The database (PostgreSQL at 127.0.0.1:1/catalog) cannot be used: connect ECONNREFUSED 127.0.0.1:1.',
  });
});

const isUnavailable = (error: unknown) => error instanceof HubError && error.code === 'database_unavailable';

testOnPostgres('an exhausted pool is reported as unavailable, not as an error', async (t, address) => {
  const dialect = await openDatabase({ ...address, poolSize: 1 }, dependencies);
  t.after(() => dialect.close());
  const store = createCatalogStore(dialect, createRevision(dialect));
  await assert.rejects(
    dialect.write.transaction().execute(() => store.revision()),
    isUnavailable,
  );
});

testOnPostgres('a full disk of the server is reported as such', async (t, address) => {
  const dialect = await openDatabase(address, dependencies);
  t.after(() => dialect.close());
  const fill = sql`do $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`;
  await assert.rejects(fill.execute(dialect.write), {
    code: 'database_unavailable',
    message: /^The disk of the database is full\./,
  });
});

/** Where statements of SQLite run. */
const PLACES = [
  { place: 'in threads', mayBlock: false },
  { place: 'on the main thread', mayBlock: true },
];

for (const { place, mayBlock } of PLACES) {
  test(`a file locked by another process is reported as unavailable, not as an error (${place})`, async (t) => {
    const path = join(await tempDir(t), 'catalog.sqlite');
    await (await openDatabase({ engine: 'sqlite', path }, dependencies)).close();
    const dialect = await openSqlite(path, { ...dependencies, mayBlock }, 50);
    const other = new DatabaseSync(path);
    t.after(async () => {
      other.close();
      await dialect.close();
    });
    const store = createCatalogStore(dialect, createRevision(dialect));
    const save = () => store.save([entityFromManifest({ document: aManifest() })], new Date());
    other.exec('begin immediate');
    await assert.rejects(save(), isUnavailable);
    other.exec('rollback');
    assert.deepEqual(await save(), ['created']);
  });

  test(`a write waits until another process unlocks the file (${place})`, async (t) => {
    const path = join(await tempDir(t), 'catalog.sqlite');
    const dialect = await openDatabase({ engine: 'sqlite', path }, { ...dependencies, mayBlock });
    const other = new DatabaseSync(path);
    t.after(async () => {
      other.close();
      await dialect.close();
    });
    const store = createCatalogStore(dialect, createRevision(dialect));
    other.exec('begin immediate');
    let isSaved = false;
    const saved = store.save([entityFromManifest({ document: aManifest() })], new Date()).finally(() => {
      isSaved = true;
    });
    // Long enough for a thread to start and to find the file locked.
    await sleep(300);
    assert.equal(isSaved, false);
    other.exec('rollback');
    assert.deepEqual(await saved, ['created']);
  });

  test(`a transaction delays other writes, and its changes are read once it ends (${place})`, async (t) => {
    const path = join(await tempDir(t), 'catalog.sqlite');
    const dialect = await openDatabase({ engine: 'sqlite', path }, { ...dependencies, mayBlock });
    t.after(() => dialect.close());
    const write = dialect.write.withTables<{ notes: { note: string } }>();
    const read = dialect.read.withTables<{ notes: { note: string } }>();
    await write.schema.createTable('notes').addColumn('note', 'text').execute();
    const notes = async () => (await read.selectFrom('notes').selectAll().execute()).map(({ note }) => note);
    let later: Promise<unknown> | undefined;
    await write.transaction().execute(async (tx) => {
      await tx.insertInto('notes').values({ note: 'first' }).execute();
      later = write.insertInto('notes').values({ note: 'later' }).execute();
      assert.deepEqual(await notes(), []);
      await tx.insertInto('notes').values({ note: 'second' }).execute();
    });
    await later;
    assert.deepEqual(await notes(), ['first', 'second', 'later']);
  });
}
