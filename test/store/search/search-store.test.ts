import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { entityFromManifest } from '../../../src/catalog/entity.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { DatabaseAddress } from '../../../src/lib/net/address.ts';
import { createCatalogStore } from '../../../src/store/catalog/catalog-store.ts';
import { createRevision } from '../../../src/store/revision.ts';
import { createSearchStore } from '../../../src/store/search/search-store.ts';
import { aManifest } from '../../support/builders.ts';
import { openHere, testOnEveryEngine } from '../../support/databases/databases.ts';

const NOON = new Date('2026-06-01T12:00:00.000Z');
testOnEveryEngine(
  'found entities and descriptions: in the given order, without deleted or overlong ones',
  async (t, address) => {
    const { store, save } = await openStores(t, address);
    await save([{ id: 'a', description: 'About a.' }, { id: 'b', description: 'x'.repeat(70_000) }, { id: 'c' }], NOON);
    const uids = ['c', 'gone', 'a', 'b'].map((slug) => `mcp_server:${slug}@1.0.0`);
    assert.deepEqual(
      (await store.found(uids)).map(({ uid }) => uid),
      ['c', 'a', 'b'].map((slug) => `mcp_server:${slug}@1.0.0`),
    );
    const descriptions = await store.descriptions(uids);
    assert.equal(descriptions.get('mcp_server:a@1.0.0'), 'About a.');
    assert.equal(descriptions.has('mcp_server:b@1.0.0'), false);
    assert.deepEqual(await store.found([]), []);
  },
);

testOnEveryEngine('found entities: changes and deletions are visible at once', async (t, address) => {
  const { store, save, remove } = await openStores(t, address);
  const uid = 'mcp_server:a@1.0.0';
  const summaries = async () => (await store.found([uid])).map(({ summary }) => summary);
  assert.deepEqual(await summaries(), []);
  await save([{ id: 'a', summary: 'First.' }], NOON);
  assert.deepEqual(await summaries(), ['First.']);
  await save([{ id: 'a', summary: 'Second.' }], NOON);
  assert.deepEqual(await summaries(), ['Second.']);
  await remove(uid);
  assert.deepEqual(await summaries(), []);
});

testOnEveryEngine('descriptions: an unreadable stored manifest does not fail a page', async (t, address) => {
  const { store, save, dialect } = await openStores(t, address);
  await save([{ id: 'a', description: 'About a.' }, { id: 'b' }, { id: 'c' }], NOON);
  await dialect.write.updateTable('manifest').set({ text: '{"type":"ghost"}' }).where('uid', 'like', '%:b@%').execute();
  await dialect.write.updateTable('manifest').set({ text: 'no JSON' }).where('uid', 'like', '%:c@%').execute();
  const uids = ['a', 'b', 'c'].map((slug) => `mcp_server:${slug}@1.0.0`);
  assert.deepEqual([...(await store.descriptions(uids)).values()].toSorted(), ['', '', 'About a.']);
});

async function openStores(t: TestContext, address: DatabaseAddress) {
  const dialect = await openHere(address);
  t.after(() => dialect.close());
  const revision = createRevision(dialect);
  const catalog = createCatalogStore(dialect, revision);
  return {
    dialect,
    store: createSearchStore(dialect, revision),
    remove: (uid: string) => catalog.remove(uid),
    save: (manifests: JsonObject[], at: Date) =>
      catalog.save(
        manifests.map((fields) => entityFromManifest({ document: aManifest(fields) })),
        at,
      ),
  };
}
