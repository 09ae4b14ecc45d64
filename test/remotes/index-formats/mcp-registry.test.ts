import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/lib/json.ts';
import { readIndexDocument } from '../../../src/remotes/fetching/read-index.ts';

const LIST = 'https://registry.example.org/v0/servers';
const OFFICIAL = 'io.modelcontextprotocol.registry/official';

const read = (document: unknown, url = LIST) => readIndexDocument(document, url);
const server = (fields: JsonObject = {}): JsonObject => ({
  name: 'io.github.someone/weather',
  description: 'Tells the weather.',
  version: '1.2.0',
  ...fields,
});

test('mcp registry: reads wrapped servers and their registry metadata', () => {
  const { entries, tellsChanges } = read({
    servers: [
      {
        server: server(),
        _meta: {
          [OFFICIAL]: { status: 'active', publishedAt: '2026-01-02T00:00:00Z', updatedAt: '2026-02-03T00:00:00Z' },
        },
      },
    ],
    metadata: { count: 1 },
  });
  const [entry] = entries;
  const manifest = entry?.manifest as JsonObject;
  assert.equal(entry?.url, `${LIST}#io.github.someone/weather@1.2.0`);
  assert.equal(entry?.isDeleted, false);
  assert.deepEqual(manifest.lifecycle, { status: 'active' });
  assert.deepEqual(manifest.provenance, {
    source: 'mcp-registry',
    server_name: 'io.github.someone/weather',
    published_at: '2026-01-02T00:00:00Z',
    updated_at: '2026-02-03T00:00:00Z',
  });
  assert.equal(tellsChanges, true);
});

test('mcp registry: null is an empty list that supports changes', () => {
  const page = read({ servers: null, metadata: { count: 0 } });
  assert.deepEqual(page, { entries: [], next: undefined, tellsChanges: true, hasList: true });
});

test('mcp registry: reads servers that are listed without their wrapper', () => {
  const { entries } = read({
    servers: [
      {
        name: 'io.github.someone/weather',
        description: 'Tells the weather.',
        version: '0.9.1',
        status: 'deprecated',
        repository: { url: 'https://github.com/someone/weather', source: 'github' },
        packages: [{ registryType: 'npm', identifier: '@someone/weather', version: '0.9.1', runtimeHint: 'npx' }],
        _meta: { [OFFICIAL]: { publishedAt: '2025-05-01T00:00:00Z' } },
      },
    ],
  });
  const manifest = entries[0]?.manifest as JsonObject;
  assert.equal(manifest.version, '0.9.1');
  assert.deepEqual(manifest.lifecycle, { status: 'deprecated' });
  assert.deepEqual(manifest.artifacts, [
    { kind: 'other', spec: { registry: 'npm', package: '@someone/weather', version: '0.9.1' } },
  ]);
  assert.equal((manifest.provenance as JsonObject).published_at, '2025-05-01T00:00:00Z');
});

test('mcp registry: reads both versions in one list; any other entry has an error', () => {
  const { entries } = read({ servers: [{ server: server({ name: 'a/a' }) }, server({ name: 'b/b' }), null, 'odd', 7] });
  assert.deepEqual(
    entries.map(({ url }) => url),
    [`${LIST}#a/a@1.2.0`, `${LIST}#b/b@1.2.0`, `${LIST}#server-2`, `${LIST}#server-3`, `${LIST}#server-4`],
  );
});

test('mcp registry: finds the next page by either spelling of its cursor', () => {
  const next = (metadata: unknown, url?: string) => read({ servers: [], metadata }, url).next;
  assert.equal(next({ nextCursor: 'a b&c' }), `${LIST}?cursor=a+b%26c`);
  assert.equal(next({ next_cursor: 'x' }), `${LIST}?cursor=x`);
  assert.equal(next({ nextCursor: 100 }), `${LIST}?cursor=100`);
  assert.equal(next({ nextCursor: 'new' }, `${LIST}?cursor=old&limit=100`), `${LIST}?cursor=new&limit=100`);
  assert.equal(
    next({ nextCursor: 'x' }, `${LIST}?updated_since=2026-01-01T00%3A00%3A00Z`),
    `${LIST}?updated_since=2026-01-01T00%3A00%3A00Z&cursor=x`,
  );
  for (const metadata of [{}, null, undefined, { nextCursor: '' }, { nextCursor: null }, { next_cursor: 0 }]) {
    assert.equal(next(metadata), undefined);
  }
});

test('mcp registry: finds deleted and deprecated in every place', () => {
  const official = (status: string) => ({ server: server(), _meta: { [OFFICIAL]: { status } } });
  const cases = [
    { listed: official('deleted'), isDeleted: true, status: 'disabled' },
    { listed: official('Deprecated'), isDeleted: false, status: 'deprecated' },
    { listed: server({ status: 'deleted' }), isDeleted: true, status: 'disabled' },
    { listed: server({ status: 'deprecated' }), isDeleted: false, status: 'deprecated' },
    { listed: { server: server({ status: 'active' }) }, isDeleted: false, status: 'active' },
    { listed: server({ status: 'odd' }), isDeleted: false, status: 'active' },
  ];
  for (const { listed, isDeleted, status } of cases) {
    const [entry] = read({ servers: [listed] }).entries;
    assert.equal(entry?.isDeleted, isDeleted);
    assert.partialDeepStrictEqual(entry?.manifest, { lifecycle: { status } });
  }
});

test('mcp registry: a repeated version counts once, as listed last', () => {
  const { entries } = read({ servers: [server({ description: 'old' }), server({ description: 'new' })] });
  assert.deepEqual(
    entries.map(({ manifest }) => (manifest as JsonObject).description),
    ['new'],
  );
});
