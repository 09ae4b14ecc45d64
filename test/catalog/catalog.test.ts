import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Catalog, createCatalog } from '../../src/catalog/catalog.ts';
import { CatalogPage, EntityRecord } from '../../src/catalog/contract.ts';
import { parseManifestText } from '../../src/catalog/manifest-text.ts';
import { jsonDigest } from '../../src/lib/json-digest.ts';
import { createCatalogStore } from '../../src/store/catalog/catalog-store.ts';
import type { Dialect } from '../../src/store/dialects/dialect.ts';
import { createRevision } from '../../src/store/revision.ts';
import { aManifest } from '../support/builders.ts';
import { emptyDatabase, openHere } from '../support/databases/databases.ts';
import { type TestWorld, testWorld } from '../support/world.ts';

const FIRST_PAGE = { text: '', sort: 'name', limit: 10, offset: 0 } as const;

test('catalog: a manifest is created, unchanged, then updated, with its times', async (t) => {
  const { catalog, world } = await aCatalog(t);
  const uid = 'mcp_server:pdf-tables@1.0.0';
  assert.deepEqual(await catalog.save({ document: aManifest() }), { uid, outcome: 'created' });

  world.setTime('2026-06-02T12:00:00.000Z');
  const { type, ...others } = aManifest();
  assert.deepEqual(await catalog.save({ document: { ...others, type } }), { uid, outcome: 'unchanged' });
  assert.equal((await catalog.get(uid)).updated_at, '2026-06-01T12:00:00.000Z');

  assert.deepEqual(await catalog.save({ document: aManifest({ summary: 'New.' }) }), { uid, outcome: 'changed' });
  const record = await catalog.get(uid);
  assert.equal(record.summary, 'New.');
  assert.equal(record.created_at, '2026-06-01T12:00:00.000Z');
  assert.equal(record.updated_at, '2026-06-02T12:00:00.000Z');
  assert.equal(record.changed_at, '2026-06-02T12:00:00.000Z');
});

test('catalog: a bad manifest is refused and leaves no trace', async (t) => {
  const { catalog } = await aCatalog(t);
  await assert.rejects(catalog.save({ document: aManifest({ version: ' ' }) }), {
    name: 'HubError',
    code: 'invalid_manifest',
    faults: [{ path: 'version', message: 'must be a non-empty string' }],
  });
  assert.deepEqual(await catalog.countByType(), { agent: 0, tool: 0, mcp_server: 0 });
});

test('catalog: one bad manifest among many does not affect the others', async (t) => {
  const { catalog } = await aCatalog(t);
  const results = await catalog.saveMany([
    { document: aManifest({ id: 'a' }) },
    { document: aManifest({ id: '../b' }) },
    { document: 'no manifest' },
    { document: aManifest({ id: 'c' }), sourceUrl: 'https://catalog.example/c.json' },
  ]);
  assert.deepEqual(
    results.map((result) => (result.ok ? [result.uid, result.outcome] : result.error.code)),
    [['mcp_server:a@1.0.0', 'created'], 'invalid_manifest', 'invalid_manifest', ['mcp_server:c@1.0.0', 'created']],
  );
  assert.equal((await catalog.get('mcp_server:c')).source_url, 'https://catalog.example/c.json');
});

test('catalog: the last manifest of a repeated uid is stored, and the earlier one counts as unchanged', async (t) => {
  const { catalog } = await aCatalog(t);
  const results = await catalog.saveMany([
    { document: aManifest({ summary: 'First.' }) },
    { document: aManifest({ id: 'other' }) },
    { document: aManifest({ summary: 'Last.' }) },
  ]);
  assert.deepEqual(
    results.map((result) => result.ok && result.outcome),
    ['unchanged', 'created', 'created'],
  );
  assert.equal((await catalog.get('mcp_server:pdf-tables@1.0.0')).summary, 'Last.');
  assert.equal((await catalog.list(FIRST_PAGE)).total, 2);
});

test('catalog: saving an empty list saves nothing', async (t) => {
  const { catalog } = await aCatalog(t);
  assert.deepEqual(await catalog.saveMany([]), []);
});

test('catalog: an entity is found by its id, or without a version as the newest', async (t) => {
  const { catalog } = await aCatalog(t);
  await saveAll(catalog, [{ version: '1.9.0' }, { version: '1.10.0' }, { version: 'refs/heads/main' }, { id: '@s/p' }]);
  assert.equal((await catalog.get('mcp_server:pdf-tables@1.9.0')).version, '1.9.0');
  assert.equal((await catalog.get('mcp_server:pdf-tables@refs/heads/main')).version, 'refs/heads/main');
  assert.equal((await catalog.get('mcp_server:@s/p')).id, 'mcp_server:@s/p@1.0.0');

  const newest = await catalog.get('mcp_server:pdf-tables');
  assert.equal(newest.version, '1.10.0');
  assert.deepEqual(
    newest.versions.map(({ id }) => id),
    [
      'mcp_server:pdf-tables@1.10.0',
      'mcp_server:pdf-tables@1.9.0',
      'mcp_server:@s/p@1.0.0',
      'mcp_server:pdf-tables@refs/heads/main',
    ],
  );
  assert.deepEqual(EntityRecord.strict().parse(newest), newest);
});

test('catalog: cached reads are repeated after a change', async (t) => {
  const { catalog } = await aCatalog(t);
  await saveAll(catalog, [{ version: '1.0.0' }]);
  assert.equal((await catalog.get('mcp_server:pdf-tables')).version, '1.0.0');
  await saveAll(catalog, [{ version: '2.0.0' }]);
  assert.equal((await catalog.get('mcp_server:pdf-tables')).version, '2.0.0');
  assert.equal((await catalog.get('mcp_server:pdf-tables@1.0.0')).versions.length, 2);
});

test('catalog: an unknown or invalid id is not found', async (t) => {
  const { catalog } = await aCatalog(t);
  await catalog.save({ document: aManifest() });
  const unknown = ['mcp_server:pdf-tables@9.9.9', 'tool:pdf-tables', 'mcp_server:PDF-tables'];
  const malformed = ['', 'pdf-tables', 'mcp_server:', 'mcp_server:a b', 'mcp_server:\u0000', 'mcp_server:\ud83d', '%'];
  for (const id of [...unknown, ...malformed]) {
    const notFound = { code: 'entity_not_found', message: `No entity '${id}' is in the catalog.` };
    await assert.rejects(catalog.get(id), notFound);
    await assert.rejects(catalog.manifest(id), notFound);
  }
  await assert.rejects(catalog.get(`tool:${'x'.repeat(5000)}`), ({ message }: Error) => message.length < 200);
});

test('catalog: the text of a manifest is returned byte for byte', async (t) => {
  const { catalog } = await aCatalog(t);
  const text =
    '{ "version":"1.0.0",\t"type" : "tool", "id":"odd",\r\n "long": 12345678901234567890.1234567890, "exact": 1.0,\n' +
    ' "emoji": "\\ud83d\\ude00 😀 \\ud83d", "nul": "\\u0000", "twice": 1, "twice": 2, "__proto__": {"a": 1} }\n\n';
  const source = parseManifestText('odd/manifest.json', text);
  await catalog.save(source);
  assert.deepEqual(await catalog.manifest('tool:odd'), { text, digest: jsonDigest(source.document) });
});

test('catalog: a manifest from YAML or a value is returned as JSON', async (t) => {
  const { catalog } = await aCatalog(t);
  const { document } = parseManifestText('manifest.yaml', 'type: tool\nid: pdf\nversion: "1.10"\nanswer: no\n');
  await catalog.save({ document });
  const { text } = await catalog.manifest('tool:pdf@1.10');
  assert.deepEqual(JSON.parse(text), { type: 'tool', id: 'pdf', version: '1.10', answer: 'no' });
});

test('catalog: a page has the total, and links to the hub’s current address', async (t) => {
  const { catalog, moveTo } = await aCatalog(t);
  await saveAll(catalog, [
    { id: 'a', name: 'a' },
    { id: 'b', name: 'b' },
    { id: 'c', name: 'c' },
  ]);
  const page = await catalog.list({ ...FIRST_PAGE, limit: 2, offset: 1 });
  assert.deepEqual([page.total, page.limit, page.offset, page.items.map(({ name }) => name)], [3, 2, 1, ['b', 'c']]);
  assert.deepEqual(CatalogPage.strict().parse(page), page);
  assert.equal(page.items[0]?.manifest_url, 'http://hub.test/catalog/manifest/mcp_server:b@1.0.0');
  moveTo('https://hub.example');
  const { manifest_url } = await catalog.get('mcp_server:b');
  assert.equal(manifest_url, 'https://hub.example/catalog/manifest/mcp_server:b@1.0.0');
});

test('catalog: entities are counted by type', async (t) => {
  const { catalog } = await aCatalog(t);
  await saveAll(catalog, [{ type: 'tool' }, { type: 'tool', version: '2.0.0' }, { type: 'agent' }]);
  assert.deepEqual(await catalog.countByType(), { agent: 1, tool: 2, mcp_server: 0 });
});

test('catalog: an unreadable stored manifest does not stop a refresh of the others', async (t) => {
  const { catalog, dialect } = await aCatalog(t);
  await saveAll(
    catalog,
    ['a', 'b', 'c'].map((id) => ({ type: 'tool', id })),
  );
  await dialect.write.updateTable('entity').set({ mapping: 0 }).execute();
  await dialect.write.updateTable('manifest').set({ text: '{' }).where('uid', 'like', 'tool:a@%').execute();
  const refused: string[] = [];
  const refresh = () => catalog.refreshOutdated(new AbortController().signal, (uid) => refused.push(uid));
  assert.equal(await refresh(), 2);
  assert.equal(await refresh(), 0);
  assert.deepEqual(
    refused.map((uid) => uid.split('@')[0]),
    ['tool:a', 'tool:a'],
  );
});

test('catalog: an entity whose manifest is no longer accepted is shown without its details', async (t) => {
  const lifecycle = { status: 'deprecated', reason: 'Use another.' };
  for (const text of ['{', '"text"', '{"type":"mcp_server","id":"of older rules","version":"1.0.0"}']) {
    const { catalog, dialect } = await aCatalog(t);
    await catalog.save({ document: aManifest({ lifecycle }) });
    const uid = 'mcp_server:pdf-tables@1.0.0';
    const before = await catalog.get(uid);
    await dialect.write.updateTable('manifest').set({ text }).execute();
    // The record of the full id is cached.
    const { description, quality, ...record } = EntityRecord.parse(await catalog.get('mcp_server:pdf-tables'));
    assert.deepEqual([description, quality, record.artifacts], ['', [], []]);
    assert.deepEqual(record.lifecycle, { status: 'deprecated', reason: null });
    for (const field of ['id', 'title', 'summary', 'tags', 'score_quality', 'mcp_registration', 'versions'] as const)
      assert.deepEqual(record[field], before[field], field);
    assert.equal((await catalog.manifest(uid)).text, text);
  }
});

interface TestCatalog {
  catalog: Catalog;
  dialect: Dialect;
  world: TestWorld;
  /** Changes the public address of the hub. */
  moveTo(address: string): void;
}

async function aCatalog(t: TestContext): Promise<TestCatalog> {
  const world = testWorld();
  const dialect = await openHere(await emptyDatabase(t, 'sqlite'), world.metrics);
  t.after(() => dialect.close());
  let address = 'http://hub.test';
  const store = createCatalogStore(dialect, createRevision(dialect));
  const catalog = createCatalog({ store, now: world.now, baseUrl: () => address, verifyingRemotes: [] });
  return {
    catalog,
    dialect,
    world,
    moveTo(next) {
      address = next;
    },
  };
}

async function saveAll(catalog: Catalog, manifests: Record<string, unknown>[]): Promise<void> {
  const results = await catalog.saveMany(manifests.map((fields) => ({ document: aManifest(fields) })));
  assert.ok(results.every(({ ok }) => ok));
}
