import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { DatabaseAddress } from '../../../src/lib/net/address.ts';
import { type IngestRun, noChanges } from '../../../src/remotes/contract.ts';
import { createRemoteStore } from '../../../src/store/remotes/remote-store.ts';
import { createRunStore } from '../../../src/store/remotes/run-store.ts';
import { createRevision } from '../../../src/store/revision.ts';
import { openHere, testOnEveryEngine } from '../../support/databases/databases.ts';

const NOON = new Date('2026-06-01T12:00:00.000Z');
const REMOVAL = { purge: false, at: NOON };
const [A, B, C] = ['https://a.example/i.json', 'https://b.example/i.json', 'https://c.example/i.json'] as const;

async function openStores(t: TestContext, address: DatabaseAddress) {
  const dialect = await openHere(address);
  t.after(() => dialect.close());
  return { dialect, remotes: createRemoteStore(dialect, createRevision(dialect)), runs: createRunStore(dialect) };
}

testOnEveryEngine('remotes: are added once, listed by address, counted and removed', async (t, address) => {
  const { remotes } = await openStores(t, address);
  assert.equal(await remotes.count(), 0);
  assert.equal(await remotes.add([C, A], NOON), 2);
  assert.equal(await remotes.add([A, B, B], NOON), 1);
  assert.equal(await remotes.add([A], NOON), 0);
  assert.equal(await remotes.count(), 3);
  assert.deepEqual(
    (await remotes.list()).map(({ url }) => url),
    [A, B, C],
  );
  assert.deepEqual((await remotes.list())[0], {
    url: A,
    name: null,
    priority: 0,
    enabled: true,
    register: 'all',
    last_sync_at: null,
    last_status: null,
    last_error: null,
    last_note: null,
    shrunk: false,
    entities: 0,
    etag: false,
  });
  assert.equal((await remotes.remove(B, REMOVAL)).removed, true);
  assert.equal((await remotes.remove(B, REMOVAL)).removed, false);
  assert.equal(await remotes.count(), 2);
});

testOnEveryEngine('remotes: store the state of an index, only for existing remotes', async (t, address) => {
  const { remotes } = await openStores(t, address);
  await remotes.add([A], NOON);
  const nothing = { etag: null, lastModified: null, changesSince: null, goneThroughAt: null, isSelfContained: false };
  const stateOf = async (url: string) => (await remotes.remembered(url))?.state;
  const generation = (await remotes.remembered(A))?.generation;
  assert.deepEqual(await stateOf(A), nothing);
  assert.equal(await remotes.remembered(B), undefined);

  const state = {
    etag: '"1"',
    lastModified: 'Mon',
    changesSince: 'then',
    goneThroughAt: 'before',
    isSelfContained: false,
  };
  await remotes.saveOutcome(A, { at: NOON, error: null, ...NO_NOTE, state, generation });
  await remotes.saveOutcome(B, { at: NOON, error: null, ...NO_NOTE, state, generation: undefined });
  assert.deepEqual(await remotes.remembered(A), { state, generation });
  assert.equal(await remotes.remembered(B), undefined);
  assert.partialDeepStrictEqual((await remotes.list())[0], { last_status: 'ok', last_error: null, etag: true });

  await remotes.saveOutcome(A, { at: NOON, error: 'answered 500', ...NO_NOTE, state: nothing, generation });
  assert.partialDeepStrictEqual((await remotes.list())[0], {
    last_sync_at: NOON.toISOString(),
    last_status: 'failed',
    last_error: 'answered 500',
    etag: false,
  });
  await remotes.remove(A, REMOVAL);
  await remotes.add([A], NOON);
  await remotes.saveOutcome(A, { at: NOON, error: null, ...NO_NOTE, state, generation });
  assert.deepEqual(await stateOf(A), nothing, 'a remote that is added again is new, also for running ingests');
});

/** The report of an uneventful run. */
const NO_NOTE = { note: null, isShrunk: false };

const aRun = (url: string, startedAt: string, fields: Partial<IngestRun> = {}): IngestRun => ({
  url,
  started_at: startedAt,
  finished_at: startedAt,
  ok: true,
  error: null,
  total: 1,
  done: 1,
  manifests_seen: 1,
  entities_upserted: 1,
  created: 1,
  updated: 0,
  unchanged: 0,
  unchecked: 0,
  duplicates: 0,
  conflicts: 0,
  failed: 0,
  missing: 0,
  per_second: 1,
  seconds_left: null,
  changes: noChanges(),
  catalog_size: 0,
  ...fields,
});

testOnEveryEngine('runs: lists a limited number, newest first', async (t, address) => {
  const { runs, dialect } = await openStores(t, address);
  assert.deepEqual(await runs.last(10), []);
  await runs.save(aRun(A, '2026-06-01T10:00:00.000Z'));
  await runs.save(aRun(B, '2026-06-01T12:00:00.000Z', { ok: false, error: 'é\ud83d\ude00' }));
  await runs.save(aRun(A, '2026-06-01T11:00:00.000Z'));
  assert.deepEqual(
    (await runs.last(2)).map(({ started_at }) => started_at.slice(11, 13)),
    ['12', '11'],
  );
  assert.equal((await runs.last(1))[0]?.error, 'é\ud83d\ude00');

  const many = Array.from({ length: 520 }, (_, number) => ({
    remote_url: C,
    started_at: `2026-05-01T00:00:00.${String(number).padStart(3, '0')}Z`,
    run: '{}',
  }));
  for (let start = 0; start < many.length; start += 130)
    await dialect.write
      .insertInto('ingest_run')
      .values(many.slice(start, start + 130))
      .execute();
  await runs.save(aRun(A, '2026-06-01T13:00:00.000Z'));
  const rows = await dialect.read.selectFrom('ingest_run').select('started_at').execute();
  assert.equal(rows.length, 500);
  const kept = await runs.last(500);
  assert.equal(kept.length, 500);
  assert.deepEqual(kept.at(-1)?.changes, noChanges(), 'older hubs did not store them');

  await runs.save(aRun(B, '2026-06-01T14:00:00.000Z', { finished_at: null, ok: null }));
  assert.equal((await runs.last(1))[0]?.url, A, 'older hubs stored unfinished runs');
});

testOnEveryEngine('rejections: are replaced completely per remote, and listed in pages', async (t, address) => {
  const { runs, remotes } = await openStores(t, address);
  const at = NOON.toISOString();
  const rejection = (number: number, error = 'answered 404') => ({
    url: `https://a.example/${number}.json`,
    error,
    at,
  });
  await remotes.add([A, B], NOON);
  await runs.replaceRejections(A, [rejection(1), rejection(2), rejection(2, 'said twice')]);
  await runs.replaceRejections(B, [rejection(1)]);
  assert.deepEqual(await runs.rejections({ limit: 2, offset: 1 }), {
    items: [
      { remote: A, url: 'https://a.example/2.json', error: 'said twice', at },
      { remote: B, url: 'https://a.example/1.json', error: 'answered 404', at },
    ],
    total: 3,
    limit: 2,
    offset: 1,
  });
  await runs.replaceRejections(A, [rejection(3)]);
  assert.deepEqual(
    (await runs.rejections({ url: A, limit: 10, offset: 0 })).items.map(({ url }) => url),
    ['https://a.example/3.json'],
  );
  await runs.replaceRejections(A, []);
  assert.equal((await runs.rejections({ url: A, limit: 10, offset: 0 })).total, 0);
  await remotes.remove(B, REMOVAL);
  assert.equal((await runs.rejections({ limit: 10, offset: 0 })).total, 0, 'they are removed with their remote');
});
