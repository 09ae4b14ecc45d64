// The cost of a second ingest, and how it handles changes.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { aManifest } from '../../support/builders.ts';
import { testOnEveryEngine, testOnSqlite } from '../../support/databases/databases.ts';
import { countsOf, someManifests, testIngest, testIngestOnSqlite } from './test-ingest.ts';

for (const validators of ['etag', 'last-modified'] as const) {
  testOnSqlite(
    `incremental: an unchanged index costs a background sync one request (validators: ${validators})`,
    async (t, address) => {
      const { host, ingest, revision } = await testIngest(t, address);
      const [a, b] = someManifests('a', 'b');
      host.put('/m/a.json', a);
      host.put('/m/b.json', b);
      host.put('/index.json', { manifests: ['m/a.json', 'm/b.json'] }, { validators });
      await ingest();
      const before = await revision();
      host.forget();

      const result = await ingest('/index.json', { isBackground: true });

      assert.equal(result.ok, true);
      assert.deepEqual(countsOf(result), { unchecked: 2 });
      assert.equal(result.stats.note, 'Index unchanged, manifests not checked.');
      assert.deepEqual(
        host.requests.map(({ path, status }) => [path, status]),
        [['/index.json', 304]],
      );
      assert.equal(await revision(), before);
    },
  );

  test(`incremental: unchanged manifests are not sent again (validators: ${validators})`, async (t) => {
    const { host, ingest, revision } = await testIngestOnSqlite(t);
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

test('incremental: without validators, digests detect changes', async (t) => {
  const { host, ingest, revision, get } = await testIngestOnSqlite(t);
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

test('incremental: a reformatted manifest is not a change', async (t) => {
  const { host, ingest, revision, publish } = await testIngestOnSqlite(t);
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

test('incremental: an odd ETag affects nothing else', async (t) => {
  const { host, ingest } = await testIngestOnSqlite(t);
  const [a] = someManifests('a');
  const odd = (body: unknown) => (_request: unknown, response: ServerResponse) =>
    void response.writeHead(200, { etag: Buffer.from('"中"').toString('latin1') }).end(JSON.stringify(body));
  host.answer('/index.json', odd({ manifests: ['m/a.json'] }));
  host.answer('/m/a.json', odd(a));
  assert.deepEqual(countsOf(await ingest()), { created: 1 });
  assert.deepEqual(countsOf(await ingest()), { unchanged: 1 });
});

testOnEveryEngine(
  'incremental: an entry that left its index is kept and marked until it returns',
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

test('incremental: an index that shrank is accepted on request', async (t) => {
  const { ingest, publish, get } = await testIngestOnSqlite(t);
  publish(...someManifests('a', 'b', 'c', 'd', 'e'));
  await ingest();
  publish(...someManifests('a'));
  assert.equal((await ingest()).stats.missing, 0);
  // The index has not changed since, and is read nevertheless.
  const believed = await ingest('/index.json', { acceptShrunk: true });
  assert.deepEqual([believed.stats.missing, believed.stats.note], [4, undefined]);
  assert.ok((await get('tool:e')).missing_since);
});

test('incremental: an index that loses more than half marks nothing and says why', async (t) => {
  const { ingest, publish, get, host, runs } = await testIngestOnSqlite(t);
  publish(...someManifests('a', 'b', 'c', 'd', 'e'));
  await ingest();

  publish(...someManifests('a', 'b'));
  // On every run, so that a reader of only the last run sees it too.
  for (const time of ['first', 'second']) {
    const shrunk = await ingest();
    assert.equal(shrunk.ok, true);
    assert.equal(shrunk.stats.missing, 0);
    const says = /^The index lists 2 of the 5 manifests that it had, so nothing was marked as missing\./;
    assert.match(shrunk.stats.note ?? '', says, `the ${time} time`);
    assert.match((await runs.last(1))[0]?.note ?? '', says);
    assert.equal((await get('tool:e')).missing_since, null);
  }

  host.put('/index.json', {});
  assert.match((await ingest()).stats.note ?? '', /lists 0 of the 5 manifests/);

  // For example after a renamed key: as many entries as before, all of them invalid.
  host.put('/index.json', { manifests: ['a', 'b', 'c', 'd', 'e'].map((id) => ({ url: `m/${id}.json` })) });
  const renamed = await ingest();
  assert.match(renamed.stats.note ?? '', /lists 0 of the 5 manifests/);
  assert.deepEqual([renamed.stats.failed, renamed.stats.missing], [5, 0]);

  publish(...someManifests('a', 'b', 'c'));
  const halved = await ingest();
  assert.deepEqual([halved.stats.missing, halved.stats.note], [2, undefined]);
  assert.ok((await get('tool:e')).missing_since);
});

test('incremental: an index whose entries were all replaced did not shrink', async (t) => {
  const { ingest, publish } = await testIngestOnSqlite(t);
  publish(...someManifests('a', 'b', 'c', 'd'));
  await ingest();
  publish(...someManifests('e', 'f', 'g'));
  assert.deepEqual(countsOf(await ingest()), { created: 3, missing: 4 });
});

testOnEveryEngine('incremental: an entity of two remotes stays when one drops it', async (t, address) => {
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
  assert.ok((await get('tool:b')).missing_since, 'no remote lists it now');

  list('/one.json', 'a', 'b');
  await ingest('/one.json');
  assert.equal((await get('tool:b')).missing_since, null);
});

test('incremental: a manifest with a new version leaves the old one marked', async (t) => {
  const { ingest, publish, get } = await testIngestOnSqlite(t);
  const versioned = (version: string) => aManifest({ type: 'tool', id: 'a', version });
  publish(versioned('1.0.0'), ...someManifests('b'));
  await ingest();
  publish(versioned('1.1.0'), ...someManifests('b', 'c'));
  const again = await ingest();
  assert.deepEqual([again.stats.manifests_seen, again.stats.created], [3, 2]);
  assert.equal((await get('tool:a@1.1.0')).missing_since, null);
  assert.ok((await get('tool:a@1.0.0')).missing_since);
});

test('incremental: temporary failures are retried although the index is unchanged', async (t) => {
  const { host, ingest, publish, ids } = await testIngestOnSqlite(t);
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

  await ingest('/index.json', { isBackground: true });
  assert.equal(host.requests.length, 1, 'the index is sufficient now');
});

test('incremental: a permanent refusal does not slow down the next run', async (t) => {
  const { host, ingest, publish } = await testIngestOnSqlite(t);
  publish(...someManifests('a', 'b'));
  host.put('/m/b.json', { type: 'nonsense' });
  assert.deepEqual(countsOf(await ingest()), { created: 1, failed: 1 });
  host.forget();
  assert.deepEqual(countsOf(await ingest('/index.json', { isBackground: true })), { unchecked: 1 });
  assert.equal(host.requests.length, 1);
  assert.deepEqual(countsOf(await ingest()), { unchanged: 1, failed: 1 }, 'a manual run reports it again');
});

test('incremental: a manifest that fails later keeps its entity', async (t) => {
  const { host, ingest, publish, get } = await testIngestOnSqlite(t);
  publish(...someManifests('a', 'b'));
  await ingest();
  host.remove('/m/b.json');
  host.put('/index.json', { manifests: ['m/a.json', 'm/b.json'], generated_at: 'later' });
  assert.deepEqual(countsOf(await ingest()), { unchanged: 1, failed: 1 });
  assert.equal((await get('tool:b')).missing_since, null);
});

test('incremental: an unrequested 304 is an error', async (t) => {
  const { host, ingest } = await testIngestOnSqlite(t);
  host.fail('/index.json', { status: 304, times: 9 });
  const { ok, error } = await ingest();
  assert.deepEqual([ok, error], [false, 'answered 304']);
});

test('freshness: an index with inline manifests or digests needs no other requests', async (t) => {
  const { host, ingest, get } = await testIngestOnSqlite(t);
  const text = (summary: string) => JSON.stringify(aManifest({ type: 'tool', id: 'a', summary }));
  const sha256 = (document: string) => createHash('sha256').update(document).digest('hex');
  const put = (summary: string, how: 'digest' | 'sha256') => {
    const digest = how === 'digest' ? { digest: `sha256:${sha256(text(summary))}` } : { sha256: sha256(text(summary)) };
    host.put('/m/a.json', text(summary));
    host.put('/index.json', {
      items: [{ path: 'm/a.json', ...digest }, { manifest: aManifest({ type: 'tool', id: 'b' }) }],
    });
  };
  put('old', 'digest');
  assert.deepEqual(countsOf(await ingest()), { created: 2 });
  host.forget();
  assert.deepEqual(countsOf(await ingest()), { unchanged: 2 });
  assert.deepEqual(
    host.requests.map(({ status }) => status),
    [304],
  );
  put('new', 'sha256');
  host.forget();
  assert.deepEqual(countsOf(await ingest()), { updated: 1, unchanged: 1 });
  assert.equal((await get('tool:a')).summary, 'new');
  put('new', 'digest');
  host.forget();
  assert.deepEqual(countsOf(await ingest()), { unchanged: 2 });
  assert.equal(host.requests.length, 1, 'the digest shows that the manifest is unchanged');
});
