import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { entityFromManifest } from '../../../src/catalog/entity.ts';
import type { CatalogStore } from '../../../src/catalog/store.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { DatabaseAddress } from '../../../src/lib/net/address.ts';
import { createCatalogStore } from '../../../src/store/catalog/catalog-store.ts';
import type { Dialect } from '../../../src/store/dialects/dialect.ts';
import { createRevision } from '../../../src/store/revision.ts';
import { aManifest } from '../../support/builders.ts';
import { openHere, testOnEveryEngine } from '../../support/databases/databases.ts';

const NOON = new Date('2026-06-01T12:00:00.000Z');
const LATER = new Date('2026-06-02T12:00:00.000Z');

testOnEveryEngine('save: returns created, unchanged and changed, in the given order', async (t, address) => {
  const { store } = await openStore(t, address);
  assert.deepEqual(await store.save([anEntity({ id: 'a' }), anEntity({ id: 'b' })], NOON), ['created', 'created']);
  assert.deepEqual(
    await store.save(
      [anEntity({ id: 'c' }), anEntity({ id: 'b' }), anEntity({ id: 'a', summary: 'New words.' })],
      LATER,
    ),
    ['created', 'unchanged', 'changed'],
  );
  const updated = await store.get({ type: 'mcp_server', slug: 'a', version: '1.0.0' });
  assert.equal(updated?.summary, 'New words.');
  assert.equal(updated?.createdAt, NOON.toISOString());
  assert.equal(updated?.updatedAt, LATER.toISOString());
});

testOnEveryEngine('save: only a change increments the revision, and only once', async (t, address) => {
  const { store } = await openStore(t, address);
  const before = await store.revision();
  await store.save([anEntity({ id: 'a' }), anEntity({ id: 'b' })], NOON);
  const after = await store.revision();
  assert.equal(after, before + 1);
  await store.save([anEntity({ id: 'a' })], LATER);
  assert.equal(await store.revision(), after);
});

testOnEveryEngine('save: never touches the columns of the gateway', async (t, address) => {
  const { store, dialect } = await openStore(t, address);
  await store.save([anEntity({ id: 'a' })], NOON);
  await dialect.write
    .updateTable('entity')
    .set({ gateway_registered_at: NOON.toISOString(), gateway_error: 'late' })
    .execute();
  await store.save([anEntity({ id: 'a', summary: 'New words.' })], LATER);
  const entity = await store.get({ type: 'mcp_server', slug: 'a' });
  assert.equal(entity?.gatewayRegisteredAt, NOON.toISOString());
  assert.equal(entity?.gatewayError, 'late');
});

testOnEveryEngine('save: an entity without an address keeps its earlier one', async (t, address) => {
  const { store } = await openStore(t, address);
  const sourceUrl = 'https://catalog.example.org/a/manifest.json';
  await store.save([entityFromManifest({ document: aManifest({ id: 'a' }), sourceUrl })], NOON);
  assert.deepEqual(await store.save([anEntity({ id: 'a' })], LATER), ['unchanged']);
  await store.save([anEntity({ id: 'a', summary: 'New words.' })], LATER);
  assert.equal((await store.get({ type: 'mcp_server', slug: 'a' }))?.sourceUrl, sourceUrl);
});

testOnEveryEngine('save: any JSON text is read back unchanged', async (t, address) => {
  const { store } = await openStore(t, address);
  const document = aManifest({
    id: 'odd',
    name: 'a\u0000b',
    description: '\ud83d\ude00 \ud83d \\ " \u2028',
    nested: { list: [null, true, 1.5, -0] },
  });
  await store.save([entityFromManifest({ document })], NOON);
  const entity = await store.get({ type: 'mcp_server', slug: 'odd' });
  assert.deepEqual(JSON.parse(entity?.manifestText ?? ''), JSON.parse(JSON.stringify(document)));
  assert.equal(entity?.name, 'ab');
});

testOnEveryEngine('save: the longest allowed texts fit into every index', async (t, address) => {
  const { store } = await openStore(t, address);
  const long = Array.from({ length: 20_000 }, (_, index) => String.fromCodePoint(0x4e00 + (index % 20_000))).join('');
  const document = aManifest({
    id: long.slice(0, 256),
    version: long.slice(0, 128),
    name: long,
    title: long,
    tags: [long, `b${long}`],
  });
  assert.deepEqual(await store.save([entityFromManifest({ document })], NOON), ['created']);
});

testOnEveryEngine('get: without a version returns the newest', async (t, address) => {
  const { store } = await openStore(t, address);
  await store.save(
    ['1.9.0', '1.10.0', '1.10.0-rc.1', 'canary-7'].map((version) => anEntity({ version })),
    NOON,
  );
  assert.equal((await store.get({ type: 'mcp_server', slug: 'pdf-tables' }))?.version, '1.10.0');
  assert.equal((await store.get({ type: 'mcp_server', slug: 'pdf-tables', version: '1.9.0' }))?.version, '1.9.0');
  assert.equal(await store.get({ type: 'tool', slug: 'pdf-tables' }), undefined);
});

testOnEveryEngine('versions: of one type and name, under any slug, newest first', async (t, address) => {
  const { store } = await openStore(t, address);
  await store.save(
    [
      anEntity({ id: 'x', version: '1.2.0' }),
      anEntity({ id: 'y', version: '1.10.0' }),
      anEntity({ id: 'z', version: '2.0.0', type: 'tool' }),
    ],
    NOON,
  );
  const versions = await store.versions('mcp_server', 'io.example.docs/pdf-tables');
  assert.deepEqual(
    versions.map(({ uid }) => uid),
    ['mcp_server:y@1.10.0', 'mcp_server:x@1.2.0'],
  );
});

testOnEveryEngine('list: pages by every order without gaps or overlaps', async (t, address) => {
  const { store } = await openStore(t, address);
  await store.save(
    Array.from({ length: 25 }, (_, index) => anEntity({ id: `e${index % 25}`, name: `n${index % 7}` })),
    NOON,
  );
  for (const sort of ['updated_at', 'created_at', 'name', 'quality'] as const) {
    const pages = await Promise.all([0, 10, 20].map((offset) => store.list({ text: '', sort, limit: 10, offset })));
    const uids = pages.flatMap(({ entities }) => entities.map(({ uid }) => uid));
    assert.equal(new Set(uids).size, 25, sort);
    assert.deepEqual(
      pages.map(({ total }) => total),
      [25, 25, 25],
    );
  }
});

testOnEveryEngine(
  'list: every word must occur, ignoring case and accents; no character is special',
  async (t, address) => {
    const { store } = await openStore(t, address);
    await store.save(
      [
        anEntity({ id: 'a', name: 'Übersetzer', summary: 'Translates 100% of texts.', tags: [] }),
        anEntity({ id: 'b', name: 'other', summary: 'Something else.', tags: ['texts'], type: 'tool' }),
      ],
      NOON,
    );
    const found = async (text: string, type?: 'tool') =>
      (await store.list({ text, type, sort: 'name', limit: 10, offset: 0 })).entities.map(({ slug }) => slug);
    assert.deepEqual(await found('UBERSETZER texts'), ['a']);
    assert.deepEqual(new Set(await found('texts')), new Set(['a', 'b']));
    assert.deepEqual(await found('texts', 'tool'), ['b']);
    assert.deepEqual(await found('100%'), ['a']);
    assert.deepEqual(await found('1_0%'), []);
    assert.deepEqual(await found("'; drop table entity; --"), []);
  },
);

testOnEveryEngine('list: finds ids by prefix, in order, with their number', async (t, address) => {
  const { store } = await openStore(t, address);
  const slugs = ['ab', 'a%', 'a_c', 'Ab', 'abc/d', 'aé', 'a😀', 'b'];
  await store.save(
    [...slugs.map((id) => anEntity({ id, name: `${slugs.indexOf(id)}` })), anEntity({ id: 'ab', type: 'tool' })],
    NOON,
  );
  const found = async (idPrefix: string, limit = 10) => {
    const { entities, total } = await store.list({ text: '', idPrefix, sort: 'quality', limit, offset: 0 });
    return [entities.map(({ uid }) => uid.replace(/@.*/, '')), total];
  };
  assert.deepEqual(await found('mcp_server:ab'), [['mcp_server:ab', 'mcp_server:abc/d'], 2]);
  assert.deepEqual(await found('mcp_server:a', 3), [['mcp_server:a%', 'mcp_server:a_c', 'mcp_server:ab'], 6]);
  assert.deepEqual(await found('mcp_server:a😀'), [['mcp_server:a😀'], 1]);
  assert.deepEqual(await found('mcp_server:a%'), [['mcp_server:a%'], 1], 'no character is special');
  assert.deepEqual(await found('to'), [['tool:ab'], 1]);
  assert.deepEqual(await found('', 1), [['mcp_server:Ab'], 9]);
  assert.deepEqual(await found('nothing'), [[], 0]);
});

testOnEveryEngine('countByType: returns a number for every type', async (t, address) => {
  const { store } = await openStore(t, address);
  await store.save([anEntity({ id: 'a' }), anEntity({ id: 'b' }), anEntity({ id: 'c', type: 'agent' })], NOON);
  assert.deepEqual(await store.countByType(), { agent: 1, tool: 0, mcp_server: 2 });
});

testOnEveryEngine('save: concurrent saves lose nothing', async (t, address) => {
  const { store } = await openStore(t, address);
  const batches = Array.from({ length: 20 }, (_, batch) =>
    Array.from({ length: 25 }, (_, index) =>
      anEntity({ id: `e${(batch * 7 + index) % 100}`, summary: `Batch ${batch}.` }),
    ),
  );
  await Promise.all(batches.map((batch) => store.save(batch, NOON)));
  assert.equal((await store.countByType()).mcp_server, 100);
});

async function openStore(t: TestContext, address: DatabaseAddress): Promise<{ store: CatalogStore; dialect: Dialect }> {
  const dialect = await openHere(address);
  t.after(() => dialect.close());
  return { store: createCatalogStore(dialect, createRevision(dialect)), dialect };
}

function anEntity(fields: JsonObject) {
  return entityFromManifest({ document: aManifest(fields) });
}
