import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readIndexDocument } from '../../../src/remotes/fetching/read-index.ts';
import { aManifest } from '../../support/builders.ts';

const INDEX = 'https://catalog.example.org/dir/index.json';
const DIR = 'https://catalog.example.org/dir/';
const urls = (document: unknown, index = INDEX) => readIndexDocument(document, index).entries.map(({ url }) => url);

test('hub index: reads all layouts, mixed in one document, in document order', () => {
  const inline = { type: 'tool', id: 'inline', version: '1.0.0' };
  const document = {
    generated_at: '2026-07-01T00:00:00Z',
    counts: { all: 6 },
    source: 'https://elsewhere.example',
    meta: { manifests: ['not/this.json'] },
    manifests: ['https://a.example/x/manifest.json', 'servers/y/manifest.json'],
    items: [
      { manifest_url: 'z/manifest.yaml' },
      { manifest_path: 'servers/w/manifest.json', status: 'active' },
      { manifest: inline },
    ],
    entries: [{ path: 'w/manifest.json', base_url: 'https://b.example/dir/' }, { path: 'v/manifest.json' }],
  };
  const { entries, next, tellsChanges } = readIndexDocument(document, INDEX);
  assert.deepEqual(entries, [
    { url: 'https://a.example/x/manifest.json' },
    { url: `${DIR}servers/y/manifest.json` },
    { url: `${DIR}z/manifest.yaml` },
    { url: `${DIR}servers/w/manifest.json` },
    { url: `${INDEX}#tool/inline/1.0.0`, manifest: inline },
    { url: 'https://b.example/dir/w/manifest.json' },
    { url: `${DIR}v/manifest.json` },
  ]);
  assert.deepEqual([next, tellsChanges], [undefined, false]);
});

test('hub index: reads a bare array of any of the shapes', () => {
  const document = ['a.json', { manifest_url: 'b.json' }, { path: 'c.json' }, { manifest: 'd.json' }];
  assert.deepEqual(
    urls(document),
    ['a', 'b', 'c', 'd'].map((name) => `${DIR}${name}.json`),
  );
});

test('hub index: resolves references as RFC 3986 says', () => {
  const cases = {
    'x.json': `${DIR}x.json`,
    './x.json': `${DIR}x.json`,
    '../x.json': 'https://catalog.example.org/x.json',
    '/x.json': 'https://catalog.example.org/x.json',
    '//b.example/x.json': 'https://b.example/x.json',
    '?v=2': 'https://catalog.example.org/dir/index.json?v=2',
    ' x.json ': `${DIR}x.json`,
    'ä b.json': `${DIR}%C3%A4%20b.json`,
    'HTTPS://B.EXAMPLE:443/x.json': 'https://b.example/x.json',
  };
  for (const [reference, expected] of Object.entries(cases)) assert.deepEqual(urls([reference]), [expected]);
});

test('hub index: the fast path for addresses agrees with the URL parser', () => {
  const part = fc.stringMatching(/^[\w.:@%~ -]{0,4}$/);
  const reference = fc.tuple(
    fc.constantFrom('', '/', './', '../', '//'),
    fc.array(part, { maxLength: 4 }),
    fc.constantFrom('', '/', '?a/b', '#c/d'),
  );
  const bases = fc.constantFrom(
    INDEX,
    'https://a.example/',
    'http://a.example:81/x/y/?q=/z/#/w/',
    'https://a.example/x',
  );
  fc.assert(
    fc.property(reference, bases, ([start, parts, end], base) => {
      const written = `${start}${parts.join('/')}${end}`;
      fc.pre(written.trim() !== '' && URL.canParse(written.trim(), base));
      assert.deepEqual(urls([written], base), [new URL(written.trim(), base).href]);
    }),
    { numRuns: 2_000 },
  );
});

test('hub index: base_url is the base of paths, and may be relative to the index', () => {
  const cases = [
    { base: 'https://b.example/dir/', path: 'x.json', expected: 'https://b.example/dir/x.json' },
    { base: 'https://b.example/dir', path: 'x.json', expected: 'https://b.example/x.json' },
    { base: 'sub/', path: 'x.json', expected: `${DIR}sub/x.json` },
    { base: '', path: 'x.json', expected: `${DIR}x.json` },
    { base: 'https://b.example/', path: 'https://c.example/x.json', expected: 'https://c.example/x.json' },
    { base: 7, path: 'x.json', expected: `${DIR}x.json` },
    { base: null, path: 'x.json', expected: `${DIR}x.json` },
  ];
  for (const { base, path, expected } of cases)
    assert.deepEqual(urls({ entries: [{ path, base_url: base }] }), [expected]);
});

test('hub index: a repeated address counts once, at its first position', () => {
  const document = {
    manifests: ['a.json', 'b.json', './a.json'],
    items: [{ manifest_path: 'b.json' }, { manifest_url: `${DIR}c.json` }],
    entries: [{ path: 'dir/../c.json' }],
  };
  assert.deepEqual(urls(document), [`${DIR}a.json`, `${DIR}b.json`, `${DIR}c.json`]);
});

test('hub index: the last of two inline manifests of an entity counts, at its position', () => {
  const first = aManifest({ summary: 'first' });
  const last = aManifest({ summary: 'last' });
  const { entries } = readIndexDocument([{ manifest: first }, 'a.json', { manifest: last }], INDEX);
  assert.deepEqual(
    entries.map(({ manifest }) => manifest),
    [undefined, last],
  );
});

test('hub index: an inline manifest keeps its address after a redirect of the index', () => {
  const document = { items: [{ manifest: { type: 'tool', id: 'a', version: '1' } }] };
  assert.deepEqual(
    urls(document, 'https://cdn.example/i.json?token=1'),
    urls(document, 'https://cdn.example/i.json?token=2#x'),
  );
});

test('hub index: inline manifests with unusable names get unique addresses', () => {
  const named = (id: unknown) => ({ manifest: { type: 'tool', id, version: '1' } });
  const listed = urls([
    named('中'.repeat(200)),
    named('x'.repeat(5000)),
    named('a b'),
    named(7),
    named(undefined),
    named('plain'),
  ]);
  assert.equal(new Set(listed).size, 6);
  for (const url of listed) assert.match(url, /^[\x21-\x7e]{1,500}$/);
});

test('an object without known keys is an empty index, and the result says so', () => {
  for (const document of [
    {},
    { counts: {}, generated_at: '2026-01-01', meta: {}, source: 'x' },
    { hello: 1 },
    { message: 'Not Found' },
  ]) {
    assert.deepEqual(readIndexDocument(document, INDEX), { entries: [], tellsChanges: false, hasList: false });
  }
  for (const document of [[], { manifests: null }, { manifests: [] }, { manifests: [], items: 7, note: 'x' }]) {
    assert.partialDeepStrictEqual(readIndexDocument(document, INDEX), { entries: [], hasList: true });
  }
});

test('an object whose lists are not lists is refused, and the error describes an index', () => {
  const kinds = /an array, an object with a list named 'manifests', 'items' or 'entries', or the list 'servers'/;
  for (const document of [{ items: 7 }, { manifests: {} }, { servers: {} }, { entries: 'x', foo: 1 }]) {
    const [key] = Object.keys(document);
    assert.throws(
      () => readIndexDocument(document, INDEX),
      new RegExp(`^HubError: This is not an index: '${key}' is not a list`),
    );
    assert.throws(() => readIndexDocument(document, INDEX), kinds);
  }
  const manifest = { type: 'tool', id: 'a', version: '1' };
  assert.throws(() => readIndexDocument(manifest, INDEX), /This is a manifest, not an index that lists manifests/);
});

test('hub index: an entry without a manifest is kept with its error', () => {
  const document = {
    manifests: [null, 7, true, [], '', ' '],
    items: [{}, { status: 'active' }, { manifest_url: 7 }, { path: '' }],
  };
  const { entries } = readIndexDocument(document, INDEX);
  assert.deepEqual(
    entries.map(({ url }) => url),
    Array.from({ length: 10 }, (_, position) => `${INDEX}#entry-${position}`),
  );
  assert.equal(entries[9]?.fault, 'is not a manifest and does not refer to one (entry 9, counted from 0)');
});

test('hub index: a bare manifest is refused, and the error says how to list it', () => {
  const { entries } = readIndexDocument([{ type: 'tool', id: 'a', version: '1' }], INDEX);
  assert.match(entries[0]?.fault ?? '', /^is a manifest itself, .* key 'manifest' of an entry \(entry 0/);
});

test('hub index: an invalid address is kept in a form that every database can store', () => {
  assert.deepEqual(urls(['http://[', 'http://a b', 'http://a\u0000b', 'http://\ud800[']), [
    'http://[',
    'http://a b',
    'http://ab',
    'http://\ufffd[',
  ]);
});

test('an index must be an object or an array', () => {
  for (const document of [null, 'text', 7, true]) {
    assert.throws(() => readIndexDocument(document, INDEX), /must be an object or an array/);
  }
});
