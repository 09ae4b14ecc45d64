import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { entityFromManifest } from '../../../src/catalog/entity.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { DatabaseAddress } from '../../../src/lib/net/address.ts';
import type { IndexEntry } from '../../../src/search/engine/search-index.ts';
import { createCatalogStore } from '../../../src/store/catalog/catalog-store.ts';
import { createRegistrationStore } from '../../../src/store/gateway/registration-store.ts';
import { createRevision } from '../../../src/store/revision.ts';
import { createSearchIndex } from '../../../src/store/search/search-index.ts';
import { aManifest } from '../../support/builders.ts';
import { openHere, testOnEveryEngine } from '../../support/databases/databases.ts';

async function stage(t: TestContext, address: DatabaseAddress) {
  const database = await openHere(address);
  t.after(() => database.close());
  const revision = createRevision(database);
  const catalog = createCatalogStore(database, revision);
  return {
    database,
    index: createSearchIndex(database, revision),
    registrations: createRegistrationStore(database, revision),
    save: (...manifests: JsonObject[]) =>
      catalog.save(
        manifests.map((document) => entityFromManifest({ document })),
        new Date(),
      ),
  };
}

testOnEveryEngine('search index: pages by type and name, never splitting a name', async (t, address) => {
  const { index, save } = await stage(t, address);
  await save(
    aManifest({ id: 'b', name: 'b', version: '1.9.0' }),
    aManifest({ id: 'b', name: 'b', version: '1.10.0' }),
    aManifest({ id: 'B', name: 'b', version: '1.9.0' }),
    aManifest({ id: 'a', name: 'a' }),
    aManifest({ id: 'z', name: 'z', type: 'agent' }),
  );
  const seen: string[][] = [];
  for (let last: IndexEntry | undefined; ; ) {
    const page = await index.families(last, 2);
    if (page.length === 0) break;
    seen.push(page.map(({ uid }) => uid).toSorted());
    last = page.at(-1);
  }
  assert.deepEqual(seen, [
    ['agent:z@1.0.0'],
    ['mcp_server:a@1.0.0'],
    ['mcp_server:B@1.9.0', 'mcp_server:b@1.10.0', 'mcp_server:b@1.9.0'],
  ]);
  const found = await index.versionsOf([
    { type: 'agent', name: 'z' },
    { type: 'tool', name: 'b' },
  ]);
  assert.deepEqual(
    found.map(({ uid }) => uid),
    ['agent:z@1.0.0'],
  );
});

testOnEveryEngine('search index: lists changes and removals after a revision', async (t, address) => {
  const { index, save, registrations } = await stage(t, address);
  await save(aManifest({ id: 'a', name: 'a' }), aManifest({ id: 'b', name: 'b' }));
  const before = await index.revision();
  assert.deepEqual(await index.changes(before), { revision: before, present: [], uids: [] });
  await save(aManifest({ id: 'b', name: 'b', title: 'Changed' }));
  await registrations.remove('mcp_server:a@1.0.0');
  const changes = await index.changes(before);
  assert.equal(changes?.revision, await index.revision());
  assert.deepEqual(changes?.present, [{ type: 'mcp_server', name: 'b' }]);
  assert.deepEqual(changes?.uids.toSorted(), ['mcp_server:a@1.0.0', 'mcp_server:b@1.0.0']);
  assert.equal(await index.changes(before - 100), undefined);
});

testOnEveryEngine('search index: detects a gap in the changes', async (t, address) => {
  const { index, save, database } = await stage(t, address);
  await save(aManifest({ id: 'a', name: 'a' }));
  await save(aManifest({ id: 'b', name: 'b' }));
  await database.write.deleteFrom('catalog_change').where('revision', '=', 1).execute();
  assert.equal(await index.changes(0), undefined);
  assert.equal((await index.changes(1))?.revision, 2);
  await database.write.deleteFrom('catalog_change').execute();
  assert.equal(await index.changes(1), undefined, 'nothing, although the revision changed');
});

testOnEveryEngine('search index: each revision has a unique stamp', async (t, address) => {
  const { index, save } = await stage(t, address);
  await save(aManifest({ id: 'a', name: 'a' }));
  await save(aManifest({ id: 'b', name: 'b' }));
  const revision = await index.revision();
  const [stamp, before] = [await index.stamp(revision), await index.stamp(revision - 1)];
  assert.ok(stamp && before && stamp !== before);
  assert.equal(await index.stamp(revision + 1), undefined);
});

testOnEveryEngine('search index: returns manifests as text, without deleted ones', async (t, address) => {
  const { index, save } = await stage(t, address);
  await save(aManifest({ id: 'a', name: 'a' }));
  const found = await index.manifests(['mcp_server:a@1.0.0', 'mcp_server:gone@1.0.0']);
  assert.deepEqual(
    found.map(({ uid, manifest }) => [uid, JSON.parse(manifest).id]),
    [['mcp_server:a@1.0.0', 'a']],
  );
  assert.deepEqual(await index.manifests([]), []);
});

testOnEveryEngine('search index: stores vectors exactly, by model and digest; a later one wins', async (t, address) => {
  const { index } = await stage(t, address);
  const vector = Float32Array.from([0.1, -0.5, 1e-20, 3]);
  await index.saveVectors('one', [
    { digest: 'a', vector },
    { digest: 'b', vector: Float32Array.of(1) },
  ]);
  await index.saveVectors('other', [{ digest: 'a', vector: Float32Array.of(2) }]);
  await index.saveVectors('one', []);
  assert.deepEqual(await index.vectors('one', ['a', 'nothing']), [{ digest: 'a', vector }]);
  assert.deepEqual(await index.vectors('other', ['a']), [{ digest: 'a', vector: Float32Array.of(2) }]);
  assert.deepEqual(await index.vectors('third', ['a']), []);
  await index.saveVectors('one', [{ digest: 'a', vector: Float32Array.of(9) }]);
  assert.deepEqual(await index.vectors('one', ['a']), [{ digest: 'a', vector: Float32Array.of(9) }]);
});
