// What an ingest adds to the catalog.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testOnEveryEngine } from '../../support/databases/databases.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';
import { countsOf, someManifests, testIngest, testIngestOnSqlite } from './test-ingest.ts';

testOnEveryEngine('ingest: adds everything an index lists, in all shapes', async (t, address) => {
  const { host, ingest, ids, get } = await testIngest(t, address);
  const other = await startIndexServer(t);
  const [a, b, d, e, f] = someManifests('a', 'b', 'd', 'e', 'f');
  host.put('/dir/a.json', a);
  host.put('/dir/sub/b.json', b);
  host.put('/dir/c.yaml', 'type: tool\nid: c\nversion: 1.0.0\nname: c # a comment\ntags: [yes, no]\n', {
    type: 'text/yaml',
  });
  host.put('/top.json', d);
  other.put('/elsewhere/f.json', f);
  host.put('/dir/index.json', {
    generated_at: 'now',
    manifests: ['a.json', host.url('/dir/sub/b.json'), './a.json'],
    items: [{ manifest_url: 'c.yaml' }, { manifest_path: '../top.json' }, { manifest: e }],
    entries: [{ path: 'f.json', base_url: other.url('/elsewhere/') }, { path: 'sub/b.json' }],
  });

  const result = await ingest('/dir/index.json');

  assert.equal(result.ok, true);
  assert.equal(result.stats.manifests_seen, 6);
  assert.deepEqual(countsOf(result), { created: 6 });
  assert.deepEqual(
    await ids(),
    ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => `tool:${id}@1.0.0`),
  );
  assert.deepEqual((await get('tool:c')).tags, ['yes', 'no'], 'YAML 1.2: these are words');
  assert.equal((await get('tool:c')).source_url, host.url('/dir/c.yaml'));
  assert.equal((await get('tool:f')).source_url, other.url('/elsewhere/f.json'));
  const inPlace = await get('tool:e');
  assert.equal(inPlace.source_url, null);
  assert.equal(inPlace.manifest_url, 'http://hub.test/catalog/manifest/tool:e@1.0.0');
});

test('ingest: an index may be a bare array, YAML, compressed, with a BOM, or empty', async (t) => {
  const { host, ingest, publish } = await testIngestOnSqlite(t);
  publish(...someManifests('a'));
  host.put('/array.json', ['m/a.json']);
  host.put('/index.yaml', 'manifests:\n  - m/a.json\nitems:\n  - manifest_path: m/a.json\n');
  host.put('/gzip.json', { manifests: ['m/a.json'] }, { encoding: 'gzip' });
  host.put('/br.json', { manifests: ['m/a.json'] }, { encoding: 'br' });
  host.put('/bom.json', `\ufeff${JSON.stringify(['m/a.json'])}`);
  host.put('/empty.json', {});
  for (const path of ['/array.json', '/index.yaml', '/gzip.json', '/br.json', '/bom.json']) {
    const { ok, stats } = await ingest(path);
    assert.deepEqual([ok, stats.manifests_seen, stats.failed], [true, 1, 0], path);
  }
  const { ok, stats } = await ingest('/empty.json');
  assert.deepEqual([ok, stats.manifests_seen], [true, 0]);
});

testOnEveryEngine('ingest: JSON is read as JSON: tabs, escaped emoji, long numbers', async (t, address) => {
  const { host, ingest, get, manifest } = await testIngest(t, address);
  const text =
    '{\n\t"type": "tool",\t"id": "a",\n\t"version": "1.0.0",\n\t"description": "\\ud83d\\ude00 smiles \\u00e9",\n\t"size": 12345678901234567890\n}';
  host.put('/m/a.json', text);
  host.put('/index.json', '{\n\t"manifests":\t["m/a.json"]\n}');
  assert.deepEqual(countsOf(await ingest()), { created: 1 });
  assert.equal((await get('tool:a')).description, '😀 smiles é');
  assert.equal((await manifest('tool:a')).description, '😀 smiles é');
});

test('ingest: follows redirects of an index and of its manifests', async (t) => {
  const { host, ingest, get } = await testIngestOnSqlite(t);
  const [a] = someManifests('a');
  host.redirect('/index.json', '/moved/index.json');
  host.put('/moved/index.json', { manifests: ['a.json'] });
  host.redirect('/moved/a.json', '/deeper/a.json');
  host.put('/deeper/a.json', a);
  assert.deepEqual(countsOf(await ingest()), { created: 1 });
  assert.equal((await get('tool:a')).source_url, host.url('/moved/a.json'), 'the address that the index lists');
});

test('ingest: a document without lists is an empty index, and the result says so', async (t) => {
  const { host, ingest, publish, get } = await testIngestOnSqlite(t);
  const note = /^This document contains no list, so it was read as an empty index: an index is an array/;
  host.put('/index.json', { message: 'Not Found' });
  const nothing = await ingest();
  assert.deepEqual([nothing.ok, nothing.stats.manifests_seen], [true, 0]);
  assert.match(nothing.stats.note ?? '', note);

  publish(...someManifests('a'));
  const one = await ingest();
  assert.deepEqual([countsOf(one), one.stats.note], [{ created: 1 }, undefined]);

  host.put('/index.json', { message: 'Not Found' });
  const gone = await ingest();
  assert.match(gone.stats.note ?? '', note);
  assert.match(gone.stats.note ?? '', /lists 0 of the 1 manifests that it had, so nothing was marked as missing/);
  assert.equal((await get('tool:a')).missing_since, null);
});

test('ingest: an index may list a server.json as a manifest', async (t) => {
  const { host, ingest, ids, get, manifest } = await testIngestOnSqlite(t);
  const server = { name: 'io.github.someone/weather', description: 'Tells the weather.', version: '1.2.0' };
  const packages = [{ registryType: 'pypi', identifier: 'weather-mcp', version: '1.2.0' }];
  const remotes = [{ type: 'sse', url: 'https://weather.example/sse' }];
  host.put('/server.json', { ...server, packages });
  host.put('/wrapped.json', { server: { ...server, version: '1.3.0', remotes } });
  host.put('/server.yaml', 'name: io.github.someone/other\nversion: "1.0"\nremotes: []\n');
  host.put('/nameless.json', {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-09-29/server.schema.json',
    version: '1.0.0',
  });
  host.put('/index.json', { manifests: ['server.json', 'wrapped.json', 'server.yaml', 'nameless.json'] });
  const result = await ingest();
  assert.deepEqual(countsOf(result), { created: 3, failed: 1 });
  assert.match(result.stats.errors[0]?.error ?? '', /id must be a non-empty string/);
  assert.deepEqual(await ids(), [
    'mcp_server:io.github.someone/other@1.0',
    'mcp_server:io.github.someone/weather@1.2.0',
    'mcp_server:io.github.someone/weather@1.3.0',
  ]);
  const first = await get('mcp_server:io.github.someone/weather@1.2.0');
  assert.deepEqual(first.artifacts, [{ kind: 'pypi', spec: { package: 'weather-mcp', version: '1.2.0' } }]);
  assert.match(first.manifest_url, /^http:\/\/hub\.test\/catalog\/manifest\//, 'clients expect a manifest there');
  const { mcp_registration } = await manifest('mcp_server:io.github.someone/weather@1.3.0');
  assert.deepEqual(mcp_registration, { server: { transport: 'SSE', url: 'https://weather.example/sse' } });
  assert.deepEqual(countsOf(await ingest()), { unchanged: 3, failed: 1 });
});
