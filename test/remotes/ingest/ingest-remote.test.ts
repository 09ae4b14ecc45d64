// One ingest from start to end: rate, time limit, messages, and a database that disconnects.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { tookTooLong } from '../../../src/remotes/ingest/ingest-remote.ts';
import type { IngestProgress } from '../../../src/remotes/ingest/progress.ts';

import { emptyDatabase, testOnEveryEngine } from '../../support/databases/databases.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';
import { countsOf, someManifests, testIngest, testIngestOnSqlite } from './test-ingest.ts';

testOnEveryEngine('rejections: are stored per remote, paged, and replaced by the next run', async (t, address) => {
  const { host, world, ingest, runs } = await testIngest(t, address);
  const broken = (path: string, count: number) => {
    const names = Array.from({ length: count }, (_, number) => `bad/${path}-${String(number).padStart(3, '0')}.json`);
    host.put(`/${path}.json`, { manifests: names });
  };
  broken('one', 25);
  broken('two', 3);
  const first = await ingest('/one.json');
  await ingest('/two.json');
  assert.equal(first.stats.failed, 25);
  assert.equal(first.stats.errors.length, 20, 'the first 20 are shown');
  const one = host.url('/one.json');
  const page = await runs.rejections({ url: one, limit: 10, offset: 20 });
  assert.deepEqual([page.total, page.limit, page.offset, page.items.length], [25, 10, 20, 5]);
  assert.deepEqual(page.items[0], {
    remote: one,
    url: host.url('/bad/one-020.json'),
    error: 'answered 404',
    at: '2026-06-01T12:00:00.000Z',
  });
  assert.equal((await runs.rejections({ limit: 5, offset: 0 })).total, 28);

  world.setTime('2026-06-01T13:00:00.000Z');
  broken('one', 2);
  await ingest('/one.json');
  const now = await runs.rejections({ limit: 100, offset: 0 });
  assert.deepEqual(
    now.items.map(({ at, remote }) => `${at} ${remote.slice(-8)}`),
    [
      '2026-06-01T13:00:00.000Z one.json',
      '2026-06-01T13:00:00.000Z one.json',
      '2026-06-01T12:00:00.000Z two.json',
      '2026-06-01T12:00:00.000Z two.json',
      '2026-06-01T12:00:00.000Z two.json',
    ],
  );
});

test('politeness: an ingest never exceeds the request limit per host', async (t) => {
  const { host, ingest, publish } = await testIngestOnSqlite(t, { requestsPerHost: 3 });
  publish(...someManifests(...Array.from({ length: 40 }, (_, number) => `m${number}`)));
  host.delay(() => 5);
  assert.deepEqual(countsOf(await ingest()), { created: 40 });
  assert.equal(host.mostAtOnce(), 3);
});

test('isolation: a manifest that hangs does not delay others of its host', async (t) => {
  const { host, ingest, publish, ids } = await testIngestOnSqlite(t, { timeoutMs: 60_000 });
  publish(...someManifests(...Array.from({ length: 300 }, (_, number) => `m${number}`)));
  const release = host.hold('/m/m0.json');
  const result = ingest();
  while ((await ids()).length < 299) await sleep(20);
  release();
  assert.deepEqual(countsOf(await result), { created: 300 });
});

test('isolation: a silent host costs one time limit and is reported', async (t) => {
  const it = await testIngestOnSqlite(t, { timeoutMs: 2_000, requestsPerHost: 32 });
  const dead = await startIndexServer(t);
  it.publish(...someManifests('a', 'b'));
  const hanging = Array.from({ length: 1_000 }, (_, number) => `${dead.origin}/${number}.json`);
  for (const url of hanging) dead.answer(new URL(url).pathname, () => {});
  it.host.put('/index.json', { manifests: [...hanging, 'm/a.json', 'm/b.json'] });

  const result = await it.ingest();

  assert.equal(result.ok, true, result.error);
  assert.deepEqual(countsOf(result), { created: 2, failed: 1_000 });
  assert.ok(dead.requests.length <= 8, `${dead.requests.length} requests`);
  const errors = result.stats.errors.map(({ error }) => error);
  assert.match(errors[0] ?? '', /^did not answer within 2 s$/);
  assert.match(errors.at(-1) ?? '', /^was not requested: its host sent no usable response to earlier requests$/);
});

test('time: formats the time limit of a remote', () => {
  assert.equal(tookTooLong(3_000), 'took longer than the 0.05 minutes that one remote may take (REMOTE_TIMEOUT_MIN)');
  assert.equal(tookTooLong(60_000), 'took longer than the minute that one remote may take (REMOTE_TIMEOUT_MIN)');
  assert.equal(tookTooLong(3_600_000), 'took longer than the 60 minutes that one remote may take (REMOTE_TIMEOUT_MIN)');
});

test('time: a remote over its time limit stops, keeps its results, and says so', async (t) => {
  const { host, ingest, publish, ids, world } = await testIngestOnSqlite(t, { timeoutMs: 120_000 });
  const names = Array.from({ length: 300 }, (_, number) => `m${number}`);
  publish(...someManifests(...names));
  const letGo = host.hold('/m/m280.json');
  let kept = 0;
  // A busy machine may need longer until the first batch is saved.
  for (let timeLimitMs = 5_000; kept === 0; timeLimitMs *= 2) {
    const result = await ingest(undefined, { timeLimitMs });
    assert.deepEqual([result.ok, result.error], [false, tookTooLong(timeLimitMs)]);
    kept = (await ids()).length;
  }
  assert.ok(kept > 0 && kept < 300, `${kept} of 300 are kept`);
  assert.ok(world.logged.some(({ level, message }) => level === 'warn' && message.startsWith('Could not ingest')));

  letGo();
  assert.deepEqual(countsOf(await ingest()), { created: 300 - kept, unchanged: kept });
});

test('time: the next runs read what one run had no time for', async (t) => {
  const { host, ingest, publish, ids } = await testIngestOnSqlite(t, { requestsPerHost: 1 });
  const names = Array.from({ length: 20 }, (_, number) => `n${String(number).padStart(2, '0')}`);
  publish(...someManifests(...names));
  // The second run must read the new manifests although a stored one at the start takes all its time.
  for (const [held, read] of [['n07', 7] as const, ['n01', 20] as const]) {
    const letGo = host.hold(`/m/${held}.json`);
    // A busy machine may need more than one run.
    for (let runs = 1; (await ids()).length < read; runs += 1) {
      assert.ok(runs <= 10, `stays at ${(await ids()).length}`);
      const { ok, error } = await ingest(undefined, { timeLimitMs: 2_500 });
      assert.deepEqual([ok, error], [false, tookTooLong(2_500)]);
    }
    letGo();
  }
  publish(...someManifests(...names.slice(1)));
  assert.deepEqual(countsOf(await ingest()), { unchanged: 19, missing: 1 });
});

test('time: an ingest stops soon after the hub closes', async (t) => {
  const { host, ingest, publish } = await testIngestOnSqlite(t);
  publish(...someManifests('a', 'b'));
  host.delay((path) => (path === '/m/b.json' ? 60_000 : 0));
  const closing = new AbortController();
  const result = ingest(undefined, { signal: closing.signal });
  while (host.seen('/m/b.json').length === 0) await sleep(5);
  closing.abort();
  assert.deepEqual([(await result).ok, (await result).error], [false, 'was stopped, because the hub is closing']);
});

test('progress: reports running work, and ends with the stats of the contract', async (t) => {
  const { host, ingest, publish, runs } = await testIngestOnSqlite(t);
  publish(...someManifests(...Array.from({ length: 300 }, (_, number) => `m${number}`)));
  const letGo = host.hold('/m/m299.json');
  let progress: IngestProgress | undefined;
  const result = ingest(undefined, { onStart: (started) => (progress = started) });
  while ((progress?.run().done ?? 0) === 0) await sleep(5);
  const run = progress?.run();
  assert.equal(run?.total, 300);
  assert.ok((run?.per_second ?? 0) > 0 && (run?.seconds_left ?? 0) > 0);
  assert.deepEqual([run?.finished_at, run?.ok, run?.error], [null, null, null]);

  letGo();
  const { stats, ...rest } = await result;
  assert.deepEqual(rest, { url: host.url('/index.json'), ok: true });
  assert.deepEqual(Object.keys(stats).toSorted(), [
    'changed',
    'conflicts',
    'created',
    'duplicates',
    'elapsed_secs',
    'entities_upserted',
    'errors',
    'failed',
    'manifests_seen',
    'missing',
    'shrunk',
    'unchanged',
    'unchecked',
    'updated',
  ]);
  const { elapsed_secs, ...counts } = stats;
  assert.ok(elapsed_secs > 0);
  assert.deepEqual(counts, {
    manifests_seen: 300,
    entities_upserted: 300,
    created: 300,
    updated: 0,
    unchanged: 0,
    unchecked: 0,
    duplicates: 0,
    conflicts: 0,
    missing: 0,
    failed: 0,
    errors: [],
    changed: [],
    shrunk: false,
  });
  assert.deepEqual([progress?.run().ok, progress?.run().done, progress?.run().seconds_left], [true, 300, null]);
  const [saved] = await runs.last(1);
  assert.deepEqual([saved?.ok, saved?.done, saved?.created], [true, 300, 300]);
});

const skip = process.env.TEST_DATABASE_URL ? false : '*** no PostgreSQL: run by npm test, or set TEST_DATABASE_URL ***';
test('database: losing PostgreSQL during an ingest is a failed result, not a crash', {
  skip: process.env.CI ? false : skip,
}, async (t) => {
  const address = await emptyDatabase(t, 'postgres');
  const it = await testIngest(t, address);
  it.publish(...someManifests(...Array.from({ length: 600 }, (_, number) => `m${number}`)));
  const letGo = it.host.hold('/m/m300.json');
  const result = it.ingest();
  while (it.host.seen('/m/m300.json').length === 0) await sleep(5);
  const name = new URL((address as { url: string }).url).pathname.slice(1);
  await onServer(`alter database ${name} allow_connections false`);
  await onServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  letGo();
  const { ok, error, stats } = await result;
  assert.equal(ok, false);
  assert.match(error ?? '', /failed inside the hub|does not answer/);
  assert.ok(stats.manifests_seen === 600);

  await onServer(`alter database ${name} allow_connections true`);
  assert.equal((await it.ingest()).stats.failed, 0);
  assert.equal((await it.ids()).length, 500, 'one page of them; the total is complete');
});

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
