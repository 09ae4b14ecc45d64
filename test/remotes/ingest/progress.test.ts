import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IngestResult, IngestRun } from '../../../src/remotes/contract.ts';
import { IngestProgress } from '../../../src/remotes/ingest/progress.ts';

const now = () => new Date('2026-06-01T12:00:00.000Z');
const URL_ = 'https://a.example/i.json';

test('progress: counts the same in its run and in its result', () => {
  const progress = new IngestProgress(URL_, now);
  progress.expect(10);
  progress.add({ created: 3, updated: 2 });
  progress.add({ unchanged: 4, missing: 1 });
  progress.reject('https://a.example/x.json', 'answered 404');
  progress.done(10);
  const counts = {
    manifests_seen: 10,
    entities_upserted: 5,
    created: 3,
    updated: 2,
    unchanged: 4,
    failed: 1,
    missing: 1,
  };
  const run = IngestRun.parse(progress.run());
  assert.partialDeepStrictEqual(run, { ...counts, url: URL_, total: 10, done: 10, finished_at: null, ok: null });
  assert.deepEqual(progress.finish(), { error: null, note: null, isShrunk: false });
  assert.partialDeepStrictEqual(progress.run(), {
    ok: true,
    finished_at: '2026-06-01T12:00:00.000Z',
    seconds_left: null,
    catalog_size: null,
  });
  const result = IngestResult.parse(progress.result());
  assert.partialDeepStrictEqual(result.stats, {
    ...counts,
    errors: [{ url: 'https://a.example/x.json', error: 'answered 404' }],
  });
  assert.equal('note' in result.stats || 'error' in result, false);
});

test('progress: names the first 20 entities of each kind of change', () => {
  const progress = new IngestProgress(URL_, now);
  for (let number = 0; number < 25; number += 1) {
    progress.saved(`tool:new-${number}@1`, 'created', []);
    progress.saved(`tool:changed-${number}@1`, 'changed', []);
    progress.saved(`tool:same-${number}@1`, 'unchanged', []);
  }
  progress.missing(30, ['tool:gone@1']);
  assert.deepEqual(progress.run().changes.created, [], 'not before the end');
  progress.finish();
  const { changes, created, updated, missing } = IngestRun.parse(progress.run());
  assert.deepEqual([created, updated, missing], [25, 25, 30]);
  assert.deepEqual([changes.created.length, changes.changed.length], [20, 20]);
  assert.deepEqual([changes.created[0], changes.changed[0]], ['tool:new-0@1', 'tool:changed-0@1']);
  assert.deepEqual(changes.missing, ['tool:gone@1']);
  assert.deepEqual(progress.result().stats.changed, changes.changed);
});

test('progress: reports a failure and a note', () => {
  const progress = new IngestProgress(URL_, now);
  progress.fail('answered 500');
  progress.note('The index is odd.');
  assert.deepEqual(progress.finish(), { error: 'answered 500', note: 'The index is odd.', isShrunk: false });
  assert.partialDeepStrictEqual(progress.run(), { ok: false, error: 'answered 500' });
  assert.partialDeepStrictEqual(progress.result(), {
    ok: false,
    error: 'answered 500',
    stats: { note: 'The index is odd.' },
  });
});

test('progress: shows the first 20 errors and keeps 10,000 rejections', () => {
  const progress = new IngestProgress(URL_, now);
  for (let number = 0; number < 10_050; number += 1) progress.reject(`https://a.example/${number}`, 'odd');
  assert.equal(progress.result().stats.errors.length, 20);
  assert.equal(progress.result().stats.failed, 10_050);
  assert.equal(progress.rejections.length, 10_000);
});

test('progress: stores rejections in a form that every database accepts', () => {
  const progress = new IngestProgress(URL_, now);
  progress.reject(`http://[${'😀'.repeat(400)}\u0000\ud800`, `odd \u0000\ud800 ${'x'.repeat(5000)}`);
  const { url = '', error = '' } = progress.rejections[0] ?? {};
  for (const text of [url, error]) {
    assert.ok(text.isWellFormed() && !text.includes('\u0000') && Buffer.byteLength(text) <= 1000);
  }
  assert.match(url, /^http:\/\/\[(😀)+$/u);
});

test('progress: reports rate and remaining time', () => {
  const progress = new IngestProgress(URL_, now);
  assert.deepEqual([progress.run().per_second, progress.run().seconds_left], [0, null]);
  progress.expect(100);
  progress.done(25);
  const { per_second, seconds_left } = progress.run();
  assert.ok(per_second > 0 && seconds_left !== null && seconds_left >= 0);
});
