// Several layouts in one document: each reader reads its part.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readIndexDocument } from '../../../src/remotes/fetching/read-index.ts';

const INDEX = 'https://catalog.example.org/dir/index.json';
const DIR = 'https://catalog.example.org/dir/';
const SERVER = { name: 'a/a', version: '1.0.0' };
const read = (document: unknown) => readIndexDocument(document, INDEX);
const urls = (document: unknown) => read(document).entries.map(({ url }) => url);

test('mixed index: registry servers come first, then the other lists in document order', () => {
  const server = `${INDEX}#a/a@1.0.0`;
  assert.deepEqual(urls({ servers: [SERVER], manifests: ['a1'], items: [{ path: 'b' }] }), [
    server,
    `${DIR}a1`,
    `${DIR}b`,
  ]);
  const turned = { items: [{ path: 'b' }], manifests: ['a1'], servers: [{ server: SERVER }] };
  assert.deepEqual(urls(turned), [server, `${DIR}b`, `${DIR}a1`]);
});

test('mixed index: an empty or invalid list does not affect the other', () => {
  assert.deepEqual(urls({ servers: [], manifests: ['a1'] }), [`${DIR}a1`]);
  assert.deepEqual(urls({ servers: null, manifests: ['a1'] }), [`${DIR}a1`]);
  assert.deepEqual(urls({ servers: {}, manifests: ['a1'] }), [`${DIR}a1`]);
  assert.deepEqual(urls({ servers: [SERVER], manifests: [] }), [`${INDEX}#a/a@1.0.0`]);
  assert.deepEqual(urls({ servers: [SERVER], manifests: 7 }), [`${INDEX}#a/a@1.0.0`]);
});

test('mixed index: errors of two lists are kept apart', () => {
  const { entries } = read({ servers: ['x', 'y'], manifests: [null, 'a1'] });
  assert.deepEqual(
    entries.map(({ url, fault }) => [url, fault]),
    [
      [`${INDEX}#server-0`, 'is not a manifest and does not refer to one (server 0, counted from 0)'],
      [`${INDEX}#server-1`, 'is not a manifest and does not refer to one (server 1, counted from 0)'],
      [`${INDEX}#entry-0`, 'is not a manifest and does not refer to one (entry 0, counted from 0)'],
      [`${DIR}a1`, undefined],
    ],
  );
});

test('mixed index: is paged like a registry, but without changes, which omit manifests', () => {
  const mixed = read({ servers: [SERVER], manifests: ['a1'], metadata: { nextCursor: 'x' } });
  assert.deepEqual([mixed.next, mixed.tellsChanges], [`${INDEX}?cursor=x`, false]);
  const pure = read({ servers: [SERVER], manifests: null, metadata: { nextCursor: 'x' } });
  assert.deepEqual([pure.next, pure.tellsChanges], [`${INDEX}?cursor=x`, true]);
});

const PACKAGES = [{ registryType: 'npm', identifier: '@a/a', version: '1.0.0' }];
const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-09-29/server.schema.json';

test('mixed index: registry servers may be inline among manifests, wrapped or not', () => {
  const official = { 'io.modelcontextprotocol.registry/official': { status: 'deleted' } };
  const { entries } = read([
    'a.json',
    { server: { ...SERVER, name: 'b/b' } },
    { manifest: { ...SERVER, name: 'c/c', packages: PACKAGES } },
    { ...SERVER, name: 'd/d', remotes: [] },
    { $schema: SCHEMA, ...SERVER, name: 'e/e' },
    { manifest: { server: { ...SERVER, name: 'f/f' }, _meta: official } },
  ]);
  assert.deepEqual(
    entries.map(({ url }) => url),
    [`${DIR}a.json`, ...['b/b', 'c/c', 'd/d', 'e/e', 'f/f'].map((name) => `${INDEX}#${name}@1.0.0`)],
  );
  assert.partialDeepStrictEqual(entries[2]?.manifest, { type: 'mcp_server', id: 'c/c', packages: PACKAGES });
  assert.deepEqual(
    entries.map(({ isDeleted }) => isDeleted),
    [undefined, false, false, false, false, true],
  );
});

test('mixed index: a reference is always fetched, and an entry with an id is not a registry server', () => {
  const described = { ...SERVER, packages: PACKAGES };
  assert.deepEqual(urls([{ ...described, manifest_url: 'x.json' }]), [`${DIR}x.json`]);
  assert.match(read([{ id: 'a', ...described }]).entries[0]?.fault ?? '', /is not a manifest/);
});

test('a server.json given as the index is reported as one', () => {
  for (const document of [{ ...SERVER, packages: PACKAGES }, { server: SERVER }, { $schema: SCHEMA }])
    assert.throws(() => read(document), /This is one server of an MCP registry, not an index that lists servers/);
});
