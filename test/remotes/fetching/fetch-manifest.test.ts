import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createFetch } from '../../../src/lib/net/fetch.ts';
import { createManifestFetcher, type FetchedText } from '../../../src/remotes/fetching/fetch-manifest.ts';
import type { KnownMember } from '../../../src/remotes/store.ts';
import { aManifest } from '../../support/builders.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';

const TASK = { remote: 'http://h.example/index.json', signal: new AbortController().signal };

function manifestFetcher(t: TestContext) {
  const { fetch, close } = createFetch({ allowPrivate: true });
  t.after(close);
  return createManifestFetcher({ fetch, maxManifestBytes: 1_000, timeoutMs: 60_000 });
}

const known = ({ member }: FetchedText, fields: Partial<KnownMember> = {}): KnownMember => ({
  ...member,
  isMissing: false,
  ...fields,
});

for (const validators of ['etag', 'last-modified', 'none'] as const) {
  test(`fetch manifest: returns the text, then unchanged (validators: ${validators})`, async (t) => {
    const host = await startIndexServer(t);
    const fetchManifest = manifestFetcher(t);
    const text = JSON.stringify(aManifest({ description: 'é😀' }));
    host.put('/m.json', text, { validators });
    const url = host.url('/m.json');
    const first = await fetchManifest({ url }, undefined, TASK);
    assert.ok(first.outcome === 'fetched');
    assert.deepEqual([first.text, first.sourceUrl, first.member.url], [text, url, url]);
    assert.match(first.member.digest, /^sha256:[0-9a-f]{64}$/);

    assert.deepEqual(await fetchManifest({ url }, known(first), TASK), { outcome: 'unchanged', url });
    assert.equal(host.seen('/m.json').at(-1)?.status, validators === 'none' ? 200 : 304);
    const whole = await fetchManifest({ url }, known(first, { isMissing: true }), TASK);
    assert.equal(whole.outcome, 'fetched', 'an entity marked missing is fetched completely');
    assert.equal(
      (await fetchManifest({ url }, known(first, { digest: '', etag: null, lastModified: null }), TASK)).outcome,
      'fetched',
    );

    host.put('/m.json', 'new words', { validators });
    const changed = await fetchManifest({ url }, known(first), TASK);
    assert.ok(changed.outcome === 'fetched' && changed.text === 'new words');
  });
}

test('fetch manifest: an inline one is compared by digest and never fetched', async (t) => {
  const fetchManifest = manifestFetcher(t);
  const entry = { url: 'https://a.example/i.json#tool/a/1', text: '{"id":"a"}' };
  const first = await fetchManifest(entry, undefined, TASK);
  assert.ok(first.outcome === 'fetched');
  assert.deepEqual([first.text, first.sourceUrl], [entry.text, undefined]);
  assert.deepEqual(await fetchManifest(entry, known(first), TASK), { outcome: 'unchanged', url: entry.url });
  assert.equal((await fetchManifest(entry, known(first, { isMissing: true }), TASK)).outcome, 'fetched');
  assert.equal((await fetchManifest({ ...entry, text: '{}' }, known(first), TASK)).outcome, 'fetched');
});

test('fetch manifest: failures say what happened, and whether to retry', async (t) => {
  const host = await startIndexServer(t);
  const fetchManifest = manifestFetcher(t);
  const cases = [
    { status: 404, isTemporary: false },
    { status: 304, isTemporary: false },
    { status: 204, isTemporary: false },
    { status: 429, isTemporary: true },
    { status: 500, isTemporary: true },
  ];
  const url = host.url('/m.json');
  for (const { status, isTemporary } of cases) {
    host.fail('/m.json', { status, times: 1 });
    const expected = { outcome: 'failed', url, error: `answered ${status}`, isTemporary };
    assert.deepEqual(await fetchManifest({ url }, undefined, TASK), expected);
  }
  host.put('/m.json', 'x'.repeat(1_001));
  assert.partialDeepStrictEqual(await fetchManifest({ url }, undefined, TASK), {
    error: 'is larger than the limit of 1000 bytes',
    isTemporary: false,
  });
  assert.partialDeepStrictEqual(await fetchManifest({ url }, undefined, { ...TASK, signal: AbortSignal.abort() }), {
    error: 'was stopped',
  });
  const deleted = { url, isDeleted: true, reason: 'Malware.' };
  assert.deepEqual(await fetchManifest(deleted, undefined, TASK), { outcome: 'deleted', url, reason: 'Malware.' });
});
