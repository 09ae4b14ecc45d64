// Limits on what a slow host, a hostile manifest or an odd caller can do, through HTTP.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyDatabase } from '../../support/databases/databases.ts';
import { heapInUse } from '../../support/heap.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';
import { until } from '../../support/until.ts';
import { gatewayStage, path, server, stage, testOnSqlite, tool } from './stage.ts';

testOnSqlite('time limits: a silent host delays no other host', async (t, address) => {
  const { host, ask } = await stage(t, address, { FETCH_TIMEOUT_SEC: '3600' });
  const silent = await startIndexServer(t);
  const held = Array.from({ length: 50 }, (_, number) => `/slow-${number}.json`);
  const release = held.map((slow, number) => {
    silent.put(slow, tool(`slow-${number}`));
    return silent.hold(slow);
  });
  host.put('/quick.json', tool('quick'));
  host.put('/index.json', { manifests: [...held.map(silent.url), 'quick.json'] });

  const ingest = ask('POST', '/ingest', { url: host.url('/index.json') });
  await until(async () => (await ask('GET', path('tool:quick@1.0.0'))).status === 200);
  assert.ok(silent.requests.length > 0, 'the silent host is still being waited for');
  for (const answer of release) answer();
  assert.equal((await ingest).body.results[0].stats.created, 51);
});

testOnSqlite('time limits: a manifest and an index that never answer are given up', async (t, address) => {
  const { host, ask } = await stage(t, address, { FETCH_TIMEOUT_SEC: '3' });
  const silent = await startIndexServer(t);
  for (const never of ['/slow.json', '/index.json']) silent.hold(never);
  host.put('/quick.json', tool('quick'));
  host.put('/index.json', { manifests: [silent.url('/slow.json'), 'quick.json'] });

  const { ok, stats } = (await ask('POST', '/ingest', { url: host.url('/index.json') })).body.results[0];
  assert.deepEqual([ok, stats.created, stats.failed], [true, 1, 1]);
  assert.deepEqual(stats.errors, [{ url: silent.url('/slow.json'), error: 'did not answer within 3 s' }]);
  const unread = (await ask('POST', '/ingest', { url: silent.url('/index.json') })).body.results[0];
  assert.deepEqual([unread.ok, unread.error], [false, 'did not answer within 3 s']);
  // The limit includes retries: the first try uses all of it.
  assert.deepEqual([silent.seen('/slow.json').length, silent.seen('/index.json').length], [1, 1]);
});

testOnSqlite('time limits: a silent host is waited for once, however often it is listed', async (t, address) => {
  const { host, ask } = await stage(t, address, { FETCH_TIMEOUT_SEC: '3' });
  const silent = await startIndexServer(t);
  const listed = Array.from({ length: 12 }, (_, number) => `/slow-${number}.json`);
  for (const never of listed) silent.hold(never);
  host.put('/index.json', { manifests: listed.map(silent.url) });

  const { stats } = (await ask('POST', '/ingest', { url: host.url('/index.json') })).body.results[0];
  const reasons = Map.groupBy(stats.errors as { error: string }[], ({ error }) => error);
  assert.deepEqual(
    [...reasons].map(([reason, all]) => [reason, all.length]),
    [
      ['did not answer within 3 s', 4],
      ['was not requested: its host sent no usable response to earlier requests', 8],
    ],
  );
});

testOnSqlite('hostile texts: a million < in a description do not delay a sync', async (t, address) => {
  const { register, entity, registered } = await gatewayStage(t, address);
  const description = '<'.repeat(1_000_000);
  const report = await register(server('a', { description }), server('b'));
  assert.deepEqual([report.registered, report.failed], [2, 0]);
  assert.ok((await entity('a')).gateway_registered_at);
  assert.deepEqual(Object.keys(registered()).toSorted(), ['a', 'b']);
});

test('hostile queries: long queries without a hit do not fill the memory', async (t) => {
  const { app, ask, publish, world } = await stage(t, await emptyDatabase(t, 'sqlite'));
  await ask('POST', '/ingest', { url: publish('a', tool('x')) });
  const search = async (number: number) => {
    // As long as the address of a request may be.
    const capabilities = Array.from({ length: 50 }, (_, index) => `${number}-${index}-${'y'.repeat(190)}`).join();
    const q = `${number}${'x'.repeat(1_900)}`;
    const answer = await app.inject({ url: '/catalog/search', query: { mode: 'keyword', q, capabilities } });
    assert.equal(answer.json().total, 0, answer.body.slice(0, 500));
    // The log of a test stays in memory.
    world.logged.length = 0;
  };
  for (let number = 0; number < 100; number += 1) await search(number);
  const before = heapInUse();
  // 12 MB of text in total.
  for (let number = 100; number < 1_100; number += 1) await search(number);
  const grownBy = heapInUse() - before;
  assert.ok(grownBy < 6_000_000, `The heap grew by ${grownBy} bytes.`);
});
