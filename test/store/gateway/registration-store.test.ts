import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { entityFromManifest } from '../../../src/catalog/entity.ts';
import type { CatalogStore } from '../../../src/catalog/store.ts';

import type { DuePage, GatewayItem, RegistrationRecord, RegistrationStore } from '../../../src/gateway/store.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { DatabaseAddress } from '../../../src/lib/net/address.ts';
import { createCatalogStore } from '../../../src/store/catalog/catalog-store.ts';
import type { Dialect } from '../../../src/store/dialects/dialect.ts';
import { createRegistrationStore } from '../../../src/store/gateway/registration-store.ts';
import { createRevision } from '../../../src/store/revision.ts';
import { aManifest } from '../../support/builders.ts';
import { openHere, testOnEveryEngine, testOnPostgres } from '../../support/databases/databases.ts';

const NOON = new Date('2026-06-01T12:00:00Z');
const LATER = new Date('2026-06-01T12:10:00Z');
const ALL = { limit: 100, offset: 0, errorOnly: false, text: '' };

interface Stage {
  store: RegistrationStore;
  catalog: CatalogStore;
  dialect: Dialect;
  save(manifests: JsonObject[], at?: Date): Promise<void>;
  due(changes?: Partial<DuePage>): Promise<string[]>;
}

async function openStage(t: TestContext, address: DatabaseAddress): Promise<Stage> {
  const dialect = await openHere(address);
  t.after(() => dialect.close());
  const revision = createRevision(dialect);
  const store = createRegistrationStore(dialect, revision);
  const catalog = createCatalogStore(dialect, revision);
  return {
    store,
    catalog,
    dialect,
    async save(manifests, at = NOON) {
      await catalog.save(
        manifests.map((document) => entityFromManifest({ document })),
        at,
      );
    },
    async due(changes) {
      const defaults: DuePage = {
        now: NOON,
        limit: 100,
        effort: 'background',
        after: '',
      };
      return (await store.due({ ...defaults, ...changes })).map(({ uid }) => uid);
    },
  };
}

const THE_A: GatewayItem = { kind: 'gateways', id: 'id-a', name: 'The A', isOurs: true, bodyDigest: 'digest' };
const heldBy = (id: string, item: GatewayItem) => ({ uid: uidOf(id), ...item });

const servers = (...ids: string[]) =>
  ids.map((id) => aManifest({ id, name: id, mcp_registration: { server: { url: `https://h.example/${id}` } } }));
const uidOf = (id: string) => `mcp_server:${id}@1.0.0`;

async function aRecord(
  store: RegistrationStore,
  id: string,
  changes: Partial<RegistrationRecord> = {},
): Promise<RegistrationRecord> {
  const entity = await store.get(uidOf(id));
  assert.ok(entity);
  const { uid, manifestDigest } = entity;
  return { uid, at: NOON, manifestDigest, error: null, isNews: true, nextTryAt: null, tries: 0, ...changes };
}

testOnEveryEngine('due: lists in order, page by page', async (t, address) => {
  const { save, due } = await openStage(t, address);
  await save([...servers('b', 'a', 'c'), aManifest({ type: 'tool', id: 'tool' })]);
  assert.deepEqual(await due({ limit: 2 }), [uidOf('a'), uidOf('b')]);
  assert.deepEqual(await due({ limit: 2, after: uidOf('b') }), [uidOf('c')]);
  assert.deepEqual(await due({ limit: 2, after: uidOf('c') }), []);
});

testOnEveryEngine('countDue: counts what is due', async (t, address) => {
  const { save, store, due } = await openStage(t, address);
  await save([...servers('a', 'b', 'c'), aManifest({ type: 'agent', id: 'agent' })]);
  await store.record([
    await aRecord(store, 'a'),
    await aRecord(store, 'b', { error: 'No.', nextTryAt: new Date(LATER.getTime() + 1) }),
  ]);
  const query = { now: NOON, effort: 'background' } as const;
  assert.equal(await store.countDue(query), 1);
  assert.equal(await store.countDue({ ...query, effort: 'explicit' }), 2);
  assert.equal(await store.countDue({ ...query, effort: 'force' }), 2);
  assert.deepEqual(await due(), [uidOf('c')]);
});

testOnEveryEngine('record: determines what is due afterwards', async (t, address) => {
  const { save, due, store } = await openStage(t, address);
  await save(servers('registered', 'waiting', 'over', 'hopeless', 'amiss'));
  const waitUntil = (nextTryAt: Date | null) => ({ error: 'No.', isNews: false, nextTryAt, tries: 1 });
  await store.record([
    await aRecord(store, 'registered'),
    await aRecord(store, 'waiting', waitUntil(LATER)),
    await aRecord(store, 'over', waitUntil(NOON)),
    await aRecord(store, 'hopeless', waitUntil(null)),
    await aRecord(store, 'amiss'),
  ]);
  await store.record([await aRecord(store, 'amiss', waitUntil(NOON))]);
  assert.deepEqual(await due(), ['amiss', 'over'].map(uidOf));
  assert.deepEqual(await due({ now: LATER }), ['amiss', 'over', 'waiting'].map(uidOf));
  assert.deepEqual(await due({ effort: 'force' }), ['amiss', 'hopeless', 'over', 'waiting'].map(uidOf));
  await save(servers('registered').map((manifest) => ({ ...manifest, summary: 'Other words.' })));
  assert.deepEqual(await due(), ['amiss', 'over', 'registered'].map(uidOf), 'its manifest changed');
});

testOnEveryEngine(
  'record: success clears the error; failure keeps the registration and its items',
  async (t, address) => {
    const { save, store, catalog } = await openStage(t, address);
    await save(servers('a'));
    await store.record([await aRecord(store, 'a', { error: 'No.', tries: 3 })]);
    const pending = await store.pending(ALL);
    assert.deepEqual(
      pending.servers.map(({ gatewayError, tries, lastTryAt }) => [gatewayError, tries, lastTryAt]),
      [['No.', 3, NOON.toISOString()]],
    );
    const revision = await catalog.revision();
    await store.record([await aRecord(store, 'a', { at: LATER, items: [THE_A] })]);
    assert.equal(await catalog.revision(), revision + 1);
    assert.equal((await store.pending(ALL)).total, 0);
    const registered = await store.get(uidOf('a'));
    assert.deepEqual([registered?.items, registered?.isRegistered, registered?.tries], [[heldBy('a', THE_A)], true, 0]);
    const entity = await catalog.get({ type: 'mcp_server', slug: 'a' });
    assert.deepEqual([entity?.gatewayRegisteredAt, entity?.gatewayError], [LATER.toISOString(), null]);

    await store.record([await aRecord(store, 'a', { error: 'Not now.', items: [THE_A] })]);
    const failed = await store.get(uidOf('a'));
    assert.deepEqual([failed?.items, failed?.isRegistered], [[heldBy('a', THE_A)], true]);
    assert.equal((await catalog.get({ type: 'mcp_server', slug: 'a' }))?.gatewayRegisteredAt, LATER.toISOString());
  },
);

testOnEveryEngine('record: records many at once, and returns those that still exist', async (t, address) => {
  const { save, store, catalog } = await openStage(t, address);
  await save(servers('a', 'b'));
  const records = [await aRecord(store, 'a'), await aRecord(store, 'b', { error: 'No.' })];
  const revision = await catalog.revision();
  const gone = { ...records[0], uid: 'mcp_server:gone@1.0.0' } as RegistrationRecord;
  assert.deepEqual(await store.record([...records, gone]), new Set([uidOf('a'), uidOf('b')]));
  assert.equal(await catalog.revision(), revision + 1, 'one revision for all');
  assert.deepEqual(await store.record([gone]), new Set());
  assert.deepEqual(await store.record([]), new Set());
  assert.equal(await catalog.revision(), revision + 1, 'and none without changes');
});

testOnEveryEngine('record: success without changes keeps the registration time', async (t, address) => {
  const { save, store, catalog } = await openStage(t, address);
  await save(servers('a'));
  await store.record([await aRecord(store, 'a')]);
  await store.record([await aRecord(store, 'a', { at: LATER, isNews: false })]);
  assert.equal((await catalog.get({ type: 'mcp_server', slug: 'a' }))?.gatewayRegisteredAt, NOON.toISOString());
});

testOnEveryEngine('pending: newest first, in pages, with a total', async (t, address) => {
  const { save, store } = await openStage(t, address);
  await save(servers('a', 'b'), NOON);
  await save([...servers('c', 'd'), aManifest({ type: 'agent', id: 'e' })], LATER);
  await store.record([await aRecord(store, 'd')]);
  const pages = await Promise.all([0, 2, 4].map((offset) => store.pending({ ...ALL, limit: 2, offset })));
  assert.deepEqual(
    pages.map((page) => page.servers.map(({ uid }) => uid)),
    [[uidOf('c'), uidOf('b')], [uidOf('a')], []],
  );
  assert.deepEqual(
    pages.map(({ total }) => total),
    [3, 3, 3],
  );
});

testOnEveryEngine('pending: filters by errors and by words of the uid, name or error', async (t, address) => {
  const { save, store } = await openStage(t, address);
  await save([
    aManifest({ id: 'Pdf.Tables', name: 'Été 100%', tags: [] }),
    aManifest({ id: 'weather', name: 'weather', title: null, summary: 'Sun and rain.', tags: [] }),
  ]);
  await store.record([await aRecord(store, 'weather', { error: 'The gateway answered 502: Session terminated.' })]);
  const found = async (text: string, errorOnly = false) =>
    (await store.pending({ ...ALL, text, errorOnly })).servers.map(({ uid }) => uid);
  const [pdf, weather] = [uidOf('Pdf.Tables'), uidOf('weather')];
  assert.deepEqual(await found('', true), [weather]);
  assert.deepEqual(await found('pdf.tables'), [pdf]);
  assert.deepEqual(await found('ETE'), [pdf]);
  assert.deepEqual(await found('100%'), [pdf]);
  assert.deepEqual(await found('1_0%'), []);
  assert.deepEqual(await found('session 502 weather'), [weather]);
  assert.deepEqual(await found('session', true), [weather]);
  assert.deepEqual(await found('pdf', true), []);
  assert.deepEqual(await found("'; drop table entity; --"), []);
});

testOnEveryEngine('remove: removes only pending servers, with a reason for the rest', async (t, address) => {
  const { save, store, catalog } = await openStage(t, address);
  await save([...servers('pending', 'registered'), aManifest({ type: 'tool', id: 'tool' })]);
  await store.record([await aRecord(store, 'registered')]);
  const revision = await catalog.revision();
  assert.equal(await store.remove(uidOf('registered')), 'already registered');
  assert.equal(await store.remove('tool:tool@1.0.0'), 'not an mcp_server');
  assert.equal(await store.remove(uidOf('none')), 'not found');
  assert.equal(await store.remove('no uid'), 'not found');
  assert.equal(await store.remove('mcp_server:\u0000@1'), 'not found');
  assert.equal(await store.remove('mcp_server:pending'), 'not found', 'a uid has a version');
  assert.equal(await catalog.revision(), revision);
  assert.equal(await store.remove(uidOf('pending')), 'removed');
  assert.equal(await store.remove(uidOf('pending')), 'not found');
  assert.equal(await catalog.revision(), revision + 1);
  assert.equal(await catalog.get({ type: 'mcp_server', slug: 'pending' }), undefined);
});

testOnEveryEngine('pending: errors include those of registered servers', async (t, address) => {
  const { save, store } = await openStage(t, address);
  await save([...servers('new', 'failed', 'registered', 'stale'), aManifest({ type: 'agent', id: 'agent' })]);
  await store.record([await aRecord(store, 'registered'), await aRecord(store, 'stale')]);
  await store.record([
    await aRecord(store, 'failed', { error: 'No.' }),
    await aRecord(store, 'stale', { error: 'No more.', at: LATER }),
  ]);
  const names = async (errorOnly: boolean) =>
    (await store.pending({ ...ALL, errorOnly })).servers.map(({ uid }) => uid).toSorted();
  assert.deepEqual(await names(false), [uidOf('failed'), uidOf('new')]);
  assert.deepEqual(await names(true), [uidOf('failed'), uidOf('stale')]);
  const { servers: found, total } = await store.pending({ ...ALL, errorOnly: true, text: 'no more' });
  assert.deepEqual([total, found[0]?.registeredAt], [1, NOON.toISOString()]);
});

testOnEveryEngine('history: counts registered servers per day, for the given number of days', async (t, address) => {
  const { save, store } = await openStage(t, address);
  assert.deepEqual(await store.history(30), { days: [], total: 0 });
  await save(servers('a', 'b', 'c', 'pending'));
  await store.record([
    await aRecord(store, 'a'),
    await aRecord(store, 'b', { at: LATER }),
    await aRecord(store, 'c', { at: new Date('2026-07-02T00:00:00Z') }),
    await aRecord(store, 'pending', { error: 'No.', isNews: false }),
  ]);
  const days = [
    { day: '2026-06-01', registered: 2 },
    { day: '2026-07-02', registered: 1 },
  ];
  assert.deepEqual(await store.history(30), { days, total: 3 });
  assert.deepEqual(await store.history(1), { days: days.slice(1), total: 3 });
});

testOnEveryEngine('removeMany: removes the named servers in order, with a reason for each', async (t, address) => {
  const { save, store } = await openStage(t, address);
  await save([...servers('a', 'b', 'registered'), aManifest({ type: 'agent', id: 'agent' })]);
  await store.record([await aRecord(store, 'registered'), await aRecord(store, 'b', { error: 'No.' })]);
  const uids = [uidOf('b'), uidOf('a'), uidOf('registered'), 'agent:agent@1.0.0', uidOf('none'), 'odd \u0000\ud83d'];
  const { removed, skipped } = await store.removeMany({ uids, errorOnly: true });
  assert.deepEqual(removed, [uidOf('b')]);
  assert.deepEqual(Object.fromEntries(skipped), {
    [uidOf('a')]: 'no gateway_error',
    [uidOf('registered')]: 'already registered',
    'agent:agent@1.0.0': 'not an mcp_server',
    [uidOf('none')]: 'not found',
    'odd \u0000\ud83d': 'not found',
  });
  assert.deepEqual((await store.removeMany({ uids: [uidOf('a')], errorOnly: false })).removed, [uidOf('a')]);
});

testOnEveryEngine('removeMany: removes all, or all with an error; registered ones stay', async (t, address) => {
  const { save, store, catalog } = await openStage(t, address);
  await save([...servers('a', 'b', 'c', 'registered'), aManifest({ type: 'tool', id: 'tool' })]);
  await store.record([await aRecord(store, 'registered'), await aRecord(store, 'b', { error: 'No.' })]);
  assert.deepEqual(await store.removeMany({ errorOnly: true }), { removed: [uidOf('b')], skipped: new Map() });
  assert.deepEqual(await store.removeMany({ errorOnly: false }), {
    removed: ['a', 'c'].map(uidOf),
    skipped: new Map(),
  });
  assert.deepEqual(await store.removeMany({ errorOnly: false }), { removed: [], skipped: new Map() });
  assert.deepEqual(await catalog.countByType(), { agent: 0, tool: 1, mcp_server: 1 });
});

testOnEveryEngine('removeMany: removes thousands at once', async (t, address) => {
  const { save, store } = await openStage(t, address);
  const ids = Array.from({ length: 3_000 }, (_, index) => `s${index}`);
  await save(servers(...ids));
  assert.equal((await store.removeMany({ uids: ids.map(uidOf), errorOnly: false })).removed.length, 3_000);
});

testOnEveryEngine('removeMany: removes all in chunks, with one revision each', async (t, address) => {
  const { save, dialect, catalog, store } = await openStage(t, address);
  const ids = Array.from({ length: 2_500 }, (_, index) => `s${String(index).padStart(4, '0')}`);
  await save(servers(...ids, 'registered', 'blocked'));
  await store.record([await aRecord(store, 'registered')]);
  await dialect.write.updateTable('entity').set({ blocked_at: 'x' }).where('uid', '=', uidOf('blocked')).execute();
  const revision = createRevision(dialect);
  const before = await revision.current();
  const chunked = createRegistrationStore(dialect, revision);
  const { removed, skipped } = await chunked.removeMany({ errorOnly: false });
  assert.deepEqual([removed, skipped], [ids.map(uidOf), new Map()]);
  assert.equal(await revision.current(), before + 2);
  assert.equal((await catalog.countByType()).mcp_server, 2);
  const named = await chunked.removeMany({ uids: [uidOf('blocked'), uidOf('registered')], errorOnly: false });
  assert.deepEqual(Object.fromEntries(named.skipped), {
    [uidOf('blocked')]: 'blocked',
    [uidOf('registered')]: 'already registered',
  });
});

testOnEveryEngine('remove: the index that listed it is read completely again', async (t, address) => {
  const { save, store, dialect } = await openStage(t, address);
  await save(servers('a', 'b'));
  const remote = (url: string) => ({
    url,
    created_at: NOON.toISOString(),
    etag: '"1"',
    last_modified: 'x',
    changes_since: 'y',
  });
  await dialect.write
    .insertInto('remote')
    .values([remote('https://one.example'), remote('https://two.example')])
    .execute();
  await dialect.write
    .insertInto('remote_member')
    .values({
      remote_url: 'https://one.example',
      manifest_url: 'https://one.example/a',
      uid: uidOf('a'),
      digest: 'x',
      etag: null,
      last_modified: null,
      missing_since: null,
    })
    .execute();
  await store.remove(uidOf('a'));
  const rows = await dialect.write
    .selectFrom('remote')
    .select(['url', 'etag', 'last_modified', 'changes_since'])
    .orderBy('url')
    .execute();
  assert.deepEqual(
    rows.map(({ etag, last_modified, changes_since }) => [etag, last_modified, changes_since]),
    [
      [null, null, null],
      ['"1"', 'x', 'y'],
    ],
  );
  assert.deepEqual(await dialect.write.selectFrom('remote_member').selectAll().execute(), []);
});

testOnEveryEngine('remove and record at the same time: registered or removed, never both', async (t, address) => {
  const { save, store } = await openStage(t, address);
  const ids = Array.from({ length: 20 }, (_, index) => `s${index}`);
  await save(servers(...ids));
  await Promise.all(
    ids.map(async (id) => {
      const record = await aRecord(store, id);
      const [present, removal] = await Promise.all([store.record([record]), store.remove(record.uid)]);
      const isThere = (await store.get(record.uid)) !== undefined;
      assert.equal(present.has(record.uid), isThere);
      assert.equal(removal, isThere ? 'already registered' : 'removed');
    }),
  );
});

testOnPostgres('record: two hubs that drop the same shared items do not deadlock', async (t, address) => {
  const { store, save } = await openStage(t, address);
  await save(servers('a', 'b', 'c', 'd'));
  const ours = (id: string): GatewayItem[] => [{ ...THE_A, id }];
  const found = (id: string): GatewayItem[] => [{ ...THE_A, id, isOurs: false }];
  const record = async (items: Record<string, GatewayItem[]>) =>
    store.record(await Promise.all(Object.entries(items).map(([id, held]) => aRecord(store, id, { items: held }))));
  // Locking rows in arrival order would deadlock in one of the first rounds.
  for (let round = 0; round < 30; round += 1) {
    await record({ a: ours('x'), b: found('x'), c: found('y'), d: ours('y') });
    await Promise.all([record({ a: [], c: [] }), record({ d: [], b: [] })]);
  }
});
