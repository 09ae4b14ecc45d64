import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { entityFromManifest } from '../../src/catalog/entity.ts';
import type { DatabaseAddress } from '../../src/lib/address.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import { createLiveDirectory } from '../../src/search/live-directory.ts';
import { createCatalogStore } from '../../src/store/catalog-store.ts';
import { openDatabase } from '../../src/store/database.ts';
import { createRegistrationStore } from '../../src/store/registration-store.ts';
import { createRevision } from '../../src/store/revision.ts';
import { createSearchStore } from '../../src/store/search-store.ts';
import { aManifest } from '../support/builders.ts';
import { testOnEveryEngine } from '../support/databases.ts';

const NOON = new Date('2026-06-01T12:00:00.000Z');
const LATER = new Date('2026-06-02T12:00:00.000Z');
const EVERYTHING = {
  filters: {
    capabilities: [],
    frameworks: [],
    providers: [],
    transports: [],
    includeInactive: true,
    includePending: true,
    prerelease: false,
  },
  versions: 'all',
  limit: 1000,
  offset: 0,
} as const;

testOnEveryEngine('entries: in the order in which they came, in pages', async (t, address) => {
  const { store, save } = await openStores(t, address);
  await save([{ id: 'b' }, { id: 'a' }, { id: 'ö' }], NOON);
  await save([{ id: '0' }], LATER);
  const first = await store.entries(undefined, 2);
  assert.deepEqual(slugs(first), ['a', 'b']);
  const rest = await store.entries(first.at(-1), 10);
  assert.deepEqual(slugs(rest), ['ö', '0']);
  assert.deepEqual(await store.entries(rest.at(-1), 10), []);
  const [entry] = first;
  assert.equal(entry?.createdAt, NOON.toISOString());
  assert.equal(entry?.isRegistered, false);
  assert.deepEqual(JSON.parse(entry?.facets ?? '').tag, ['pdf', 'tables']);
});

testOnEveryEngine('changes: what came, changed and went after a revision', async (t, address) => {
  const { store, save, registrations } = await openStores(t, address);
  await save([{ id: 'a' }, { id: 'b' }], NOON);
  const before = await store.revision();
  assert.deepEqual(await store.changes(before), { revision: before, present: [], gone: [] });
  await save([{ id: 'b', summary: 'New words.' }, { id: 'c' }], LATER);
  await registrations.removeMany({ uids: ['mcp_server:a@1.0.0'], errorOnly: false });
  const changes = await store.changes(before);
  assert.equal(changes?.revision, before + 2);
  assert.deepEqual(new Set(slugs(changes?.present ?? [])), new Set(['b', 'c']));
  assert.deepEqual(changes?.gone, ['mcp_server:a@1.0.0']);
});

testOnEveryEngine('changes: what is not known any more is said', async (t, address) => {
  const { store, save, dialect } = await openStores(t, address);
  await save([{ id: 'a' }], NOON);
  await save([{ id: 'b' }], NOON);
  await dialect.write.deleteFrom('catalog_change').where('revision', '=', 1).execute();
  assert.equal(await store.changes(0), undefined, 'a gap');
  assert.equal((await store.changes(1))?.revision, 2);
  await dialect.write.deleteFrom('catalog_change').execute();
  assert.equal(await store.changes(1), undefined, 'nothing at all, although the revision moved');
});

testOnEveryEngine('a directory follows the catalog, whoever changes it and however', async (t, address) => {
  const { store, save, registrations, dialect } = await openStores(t, address);
  const live = createLiveDirectory(store);
  const listed = async () => (await live.current()).list(EVERYTHING).uids.map((uid) => /:(.*)@/.exec(uid)?.[1]);
  assert.deepEqual(await listed(), []);
  for (let batch = 0; batch < 8; batch += 1) await save([{ id: `a${batch}` }], NOON);
  assert.equal((await listed()).length, 8);
  await registrations.removeMany({ uids: ['mcp_server:a3@1.0.0'], errorOnly: false });
  assert.ok(!(await listed()).includes('a3'));

  const other = await openStores(t, address);
  await other.save([{ id: 'from-elsewhere' }], LATER);
  await new Promise((resolve) => setTimeout(resolve, 80));
  assert.equal((await listed())[0], 'from-elsewhere');

  // A hub of an older version moves the revision without saying what it changed.
  await dialect.write.deleteFrom('entity').where('slug', '=', 'a5').execute();
  await dialect.write
    .updateTable('catalog_state')
    .set(({ eb }) => ({ revision: eb('revision', '+', 1) }))
    .execute();
  await new Promise((resolve) => setTimeout(resolve, 80));
  assert.ok(!(await listed()).includes('a5'));
});

testOnEveryEngine('a directory of more than one batch is whole', async (t, address) => {
  const { store, save } = await openStores(t, address);
  const ids = Array.from({ length: 2500 }, (_, index) => ({ id: `e${index}` }));
  for (let from = 0; from < ids.length; from += 500) await save(ids.slice(from, from + 500), NOON);
  const live = createLiveDirectory(store);
  const [one, two] = await Promise.all([live.current(), live.current()]);
  assert.equal(one, two);
  assert.equal(one.list(EVERYTHING).total, 2500);
});

testOnEveryEngine(
  'summaries and descriptions: in the order given, without what is gone or too long',
  async (t, address) => {
    const { store, save } = await openStores(t, address);
    await save([{ id: 'a', description: 'About a.' }, { id: 'b', description: 'x'.repeat(70_000) }, { id: 'c' }], NOON);
    const uids = ['c', 'gone', 'a', 'b'].map((slug) => `mcp_server:${slug}@1.0.0`);
    assert.deepEqual(
      (await store.summaries(uids)).map(({ slug }) => slug),
      ['c', 'a', 'b'],
    );
    const descriptions = await store.descriptions(uids);
    assert.equal(descriptions.get('mcp_server:a@1.0.0'), 'About a.');
    assert.equal(descriptions.has('mcp_server:b@1.0.0'), false);
    assert.deepEqual(await store.summaries([]), []);
  },
);

testOnEveryEngine('descriptions: a stored manifest that cannot be read any more costs no page', async (t, address) => {
  const { store, save, dialect } = await openStores(t, address);
  await save([{ id: 'a', description: 'About a.' }, { id: 'b' }, { id: 'c' }], NOON);
  await dialect.write.updateTable('entity').set({ manifest: '{"type":"ghost"}' }).where('slug', '=', 'b').execute();
  await dialect.write.updateTable('entity').set({ manifest: 'no JSON' }).where('slug', '=', 'c').execute();
  const uids = ['a', 'b', 'c'].map((slug) => `mcp_server:${slug}@1.0.0`);
  assert.deepEqual([...(await store.descriptions(uids)).values()].toSorted(), ['', '', 'About a.']);
});

async function openStores(t: TestContext, address: DatabaseAddress) {
  const dialect = await openDatabase(address, { metrics: createMetrics() });
  t.after(() => dialect.close());
  const revision = createRevision(dialect);
  const catalog = createCatalogStore(dialect, revision);
  return {
    dialect,
    store: createSearchStore(dialect, revision),
    registrations: createRegistrationStore(dialect, revision),
    save: (manifests: JsonObject[], at: Date) =>
      catalog.save(
        manifests.map((fields) => entityFromManifest({ document: aManifest(fields) })),
        at,
      ),
  };
}

function slugs(entries: readonly { uid: string }[]): (string | undefined)[] {
  return entries.map(({ uid }) => /:(.*)@/.exec(uid)?.[1]);
}
