// What an ingest brings, and what it costs the second time.
import assert from 'node:assert/strict';
import { aManifest } from '../support/builders.ts';
import { testOnEveryEngine } from '../support/databases.ts';
import { startIndexServer } from '../support/index-server.ts';
import { countsOf, someManifests, testIngest } from './test-ingest.ts';

testOnEveryEngine('ingest: everything an index lists arrives, in all its shapes', async (t, address) => {
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

testOnEveryEngine(
  'ingest: an index may be a bare array, YAML, packed, marked with a BOM, or empty',
  async (t, address) => {
    const { host, ingest, publish } = await testIngest(t, address);
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
  },
);

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

testOnEveryEngine('ingest: redirects of an index and of its manifests are followed', async (t, address) => {
  const { host, ingest, get } = await testIngest(t, address);
  const [a] = someManifests('a');
  host.redirect('/index.json', '/moved/index.json');
  host.put('/moved/index.json', { manifests: ['a.json'] });
  host.redirect('/moved/a.json', '/deeper/a.json');
  host.put('/deeper/a.json', a);
  assert.deepEqual(countsOf(await ingest()), { created: 1 });
  assert.equal((await get('tool:a')).source_url, host.url('/moved/a.json'), 'the address that the index lists');
});

for (const validators of ['etag', 'last-modified'] as const) {
  testOnEveryEngine(`ingest: an unchanged index costs one request, by ${validators}`, async (t, address) => {
    const { host, ingest, revision } = await testIngest(t, address);
    const [a, b] = someManifests('a', 'b');
    host.put('/m/a.json', a);
    host.put('/m/b.json', b);
    host.put('/index.json', { manifests: ['m/a.json', 'm/b.json'] }, { validators });
    await ingest();
    const before = await revision();
    host.forget();

    const result = await ingest();

    assert.equal(result.ok, true);
    assert.deepEqual(countsOf(result), { unchanged: 2 });
    assert.deepEqual(
      host.requests.map(({ path, status }) => [path, status]),
      [['/index.json', 304]],
    );
    assert.equal(await revision(), before);
  });

  testOnEveryEngine(`ingest: unchanged manifests are not even sent, by ${validators}`, async (t, address) => {
    const { host, ingest, revision } = await testIngest(t, address);
    const [a, b] = someManifests('a', 'b');
    host.put('/m/a.json', a, { validators });
    host.put('/m/b.json', b, { validators });
    host.put('/index.json', { manifests: ['m/a.json', 'm/b.json'] });
    await ingest();
    const before = await revision();
    host.forget();
    host.put('/index.json', { manifests: ['m/a.json', 'm/b.json'], generated_at: 'later' });

    assert.deepEqual(countsOf(await ingest()), { unchanged: 2 });
    assert.deepEqual(host.requests.map(({ path, status }) => [path, status]).toSorted(), [
      ['/index.json', 200],
      ['/m/a.json', 304],
      ['/m/b.json', 304],
    ]);
    assert.equal(await revision(), before);
  });
}

testOnEveryEngine('ingest: where a host knows no validators, digests tell what changed', async (t, address) => {
  const { host, ingest, revision, get } = await testIngest(t, address);
  const put = (summary: string) => {
    host.put('/m/a.json', aManifest({ type: 'tool', id: 'a', summary }), { validators: 'none' });
    host.put('/m/b.json', aManifest({ type: 'tool', id: 'b' }), { validators: 'none' });
    const inPlace = { manifest: aManifest({ type: 'tool', id: 'c' }) };
    host.put('/index.json', { manifests: ['m/a.json', 'm/b.json'], items: [inPlace] }, { validators: 'none' });
  };
  put('old');
  assert.deepEqual(countsOf(await ingest()), { created: 3 });
  const before = await revision();
  assert.deepEqual(countsOf(await ingest()), { unchanged: 3 });
  assert.equal(await revision(), before, 'nothing was written');

  put('new');
  assert.deepEqual(countsOf(await ingest()), { updated: 1, unchanged: 2 });
  assert.equal(await revision(), before + 1);
  assert.equal((await get('tool:a')).summary, 'new');
});

testOnEveryEngine('ingest: a manifest that is only written differently is no change', async (t, address) => {
  const { host, ingest, revision, publish } = await testIngest(t, address);
  const [a] = someManifests('a');
  publish(...someManifests('a'));
  await ingest();
  const before = await revision();
  const reordered = Object.fromEntries(Object.entries(a ?? {}).toReversed());
  host.put('/m/a.json', JSON.stringify(reordered, null, 4));
  host.put('/index.json', { manifests: ['m/a.json'], generated_at: 'later' });
  assert.deepEqual(countsOf(await ingest()), { unchanged: 1 });
  assert.equal(await revision(), before);
});

testOnEveryEngine('ingest: an odd entity tag costs nothing but itself', async (t, address) => {
  const { host, ingest } = await testIngest(t, address);
  const [a] = someManifests('a');
  const odd = (body: unknown) => (_request: unknown, response: import('node:http').ServerResponse) =>
    void response.writeHead(200, { etag: Buffer.from('"中"').toString('latin1') }).end(JSON.stringify(body));
  host.answer('/index.json', odd({ manifests: ['m/a.json'] }));
  host.answer('/m/a.json', odd(a));
  assert.deepEqual(countsOf(await ingest()), { created: 1 });
  assert.deepEqual(countsOf(await ingest()), { unchanged: 1 });
});

testOnEveryEngine(
  'ingest: what vanished from an index is kept and marked; when it is back, it is not',
  async (t, address) => {
    const { world, ingest, publish, get, revision } = await testIngest(t, address);
    publish(...someManifests('a', 'b', 'c'));
    await ingest();
    const all = await revision();

    world.setTime('2026-06-02T12:00:00.000Z');
    publish(...someManifests('a', 'c'));
    assert.deepEqual(countsOf(await ingest()), { unchanged: 2, missing: 1 });
    assert.equal((await get('tool:b')).missing_since, '2026-06-02T12:00:00.000Z');
    assert.equal((await get('tool:a')).missing_since, null);
    assert.equal(await revision(), all + 1);

    world.setTime('2026-06-03T12:00:00.000Z');
    publish(...someManifests('a', 'c', 'd'));
    assert.deepEqual(countsOf(await ingest()), { created: 1, unchanged: 2 }, 'marked once');
    assert.equal((await get('tool:b')).missing_since, '2026-06-02T12:00:00.000Z');

    publish(...someManifests('a', 'b', 'c', 'd'));
    assert.deepEqual(countsOf(await ingest()), { unchanged: 4 });
    assert.equal((await get('tool:b')).missing_since, null);
  },
);

testOnEveryEngine('ingest: an index that shrinks to less than half marks nothing, and says why', async (t, address) => {
  const { ingest, publish, get, host } = await testIngest(t, address);
  publish(...someManifests('a', 'b', 'c', 'd', 'e'));
  await ingest();

  publish(...someManifests('a', 'b'));
  const shrunk = await ingest();
  assert.equal(shrunk.ok, true);
  assert.equal(shrunk.stats.missing, 0);
  assert.equal(shrunk.stats.note, 'The index lists 2 manifests where it had 5: nothing was marked as missing.');
  assert.equal((await get('tool:e')).missing_since, null);

  host.put('/index.json', {});
  assert.match((await ingest()).stats.note ?? '', /lists 0 manifests where it had 5/);

  publish(...someManifests('a', 'b', 'c'));
  const halved = await ingest();
  assert.deepEqual([halved.stats.missing, halved.stats.note], [2, undefined]);
  assert.ok((await get('tool:e')).missing_since);
});

testOnEveryEngine('ingest: an index that was replaced by as many others did not shrink', async (t, address) => {
  const { ingest, publish } = await testIngest(t, address);
  publish(...someManifests('a', 'b', 'c', 'd'));
  await ingest();
  publish(...someManifests('e', 'f', 'g'));
  assert.deepEqual(countsOf(await ingest()), { created: 3, missing: 4 });
});

testOnEveryEngine('ingest: an entity that two remotes publish is not lost when one drops it', async (t, address) => {
  const { host, ingest, get } = await testIngest(t, address);
  const manifests = someManifests('a', 'b', 'c');
  for (const manifest of manifests) host.put(`/m/${manifest.id}.json`, manifest);
  const list = (path: string, ...ids: string[]) => host.put(path, { manifests: ids.map((id) => `m/${id}.json`) });
  list('/one.json', 'a', 'b');
  list('/two.json', 'b', 'c');
  await ingest('/one.json');
  assert.deepEqual(countsOf(await ingest('/two.json')), { created: 1, unchanged: 1 });

  list('/one.json', 'a');
  await ingest('/one.json');
  assert.equal((await get('tool:b')).missing_since, null);

  list('/two.json', 'c');
  await ingest('/two.json');
  assert.ok((await get('tool:b')).missing_since, 'now nobody lists it');

  list('/one.json', 'a', 'b');
  await ingest('/one.json');
  assert.equal((await get('tool:b')).missing_since, null);
});

testOnEveryEngine('ingest: a manifest whose version went up leaves the old one behind, marked', async (t, address) => {
  const { ingest, publish, get } = await testIngest(t, address);
  const versioned = (version: string) => aManifest({ type: 'tool', id: 'a', version });
  publish(versioned('1.0.0'), ...someManifests('b'));
  await ingest();
  publish(versioned('1.1.0'), ...someManifests('b', 'c'));
  const again = await ingest();
  assert.deepEqual([again.stats.manifests_seen, again.stats.created], [3, 2]);
  assert.equal((await get('tool:a@1.1.0')).missing_since, null);
  assert.ok((await get('tool:a@1.0.0')).missing_since);
});

testOnEveryEngine(
  'ingest: what failed for a while is tried again, although the index did not change',
  async (t, address) => {
    const { host, ingest, publish, ids } = await testIngest(t, address);
    publish(...someManifests('a', 'b'));
    host.fail('/m/b.json', { status: 503, times: 4 });
    const first = await ingest();
    assert.deepEqual(countsOf(first), { created: 1, failed: 1 });
    assert.deepEqual(first.stats.errors, [{ url: host.url('/m/b.json'), error: 'answered 503' }]);
    host.forget();

    assert.deepEqual(countsOf(await ingest()), { created: 1, unchanged: 1 });
    assert.deepEqual(await ids(), ['tool:a@1.0.0', 'tool:b@1.0.0']);
    assert.equal(host.seen('/m/a.json')[0]?.status, 304);
    host.forget();

    await ingest();
    assert.equal(host.requests.length, 1, 'now the index is enough');
  },
);

testOnEveryEngine('ingest: what is refused for good does not make the next run dear', async (t, address) => {
  const { host, ingest, publish } = await testIngest(t, address);
  publish(...someManifests('a', 'b'));
  host.put('/m/b.json', { type: 'nonsense' });
  assert.deepEqual(countsOf(await ingest()), { created: 1, failed: 1 });
  host.forget();
  assert.deepEqual(countsOf(await ingest()), { unchanged: 1 });
  assert.equal(host.requests.length, 1);
});

testOnEveryEngine('ingest: a manifest that fails later keeps the entity it brought', async (t, address) => {
  const { host, ingest, publish, get } = await testIngest(t, address);
  publish(...someManifests('a', 'b'));
  await ingest();
  host.remove('/m/b.json');
  host.put('/index.json', { manifests: ['m/a.json', 'm/b.json'], generated_at: 'later' });
  assert.deepEqual(countsOf(await ingest()), { unchanged: 1, failed: 1 });
  assert.equal((await get('tool:b')).missing_since, null);
});

testOnEveryEngine('ingest: a host that answers 304 to nobody in particular is an error', async (t, address) => {
  const { host, ingest } = await testIngest(t, address);
  host.fail('/index.json', { status: 304, times: 9 });
  const { ok, error } = await ingest();
  assert.deepEqual([ok, error], [false, 'answered 304']);
});

testOnEveryEngine(
  'ingest: a manifest that changed behind an unchanged index is found within a day',
  async (t, address) => {
    const { host, world, ingest, publish, get } = await testIngest(t, address);
    publish(...someManifests('a', 'b'));
    await ingest();
    host.put('/m/b.json', aManifest({ type: 'tool', id: 'b', summary: 'new' }));

    world.setTime('2026-06-02T11:00:00.000Z');
    assert.deepEqual(countsOf(await ingest()), { unchanged: 2 });
    world.setTime('2026-06-02T13:00:00.000Z');
    assert.deepEqual(countsOf(await ingest()), { updated: 1, unchanged: 1 });
    assert.equal((await get('tool:b')).summary, 'new');
    host.forget();
    world.setTime('2026-06-03T12:00:00.000Z');
    assert.deepEqual(countsOf(await ingest()), { unchanged: 2 });
    assert.equal(host.requests.length, 1, 'and then the index is enough again');
  },
);
