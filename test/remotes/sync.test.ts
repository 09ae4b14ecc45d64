// Ingest of all remotes, sync, and locking.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SearchQuery } from '../../src/search/contract.ts';
import { emptyDatabase, testOnEveryEngine } from '../support/databases/databases.ts';
import { SOON } from '../support/in-time.ts';
import { caughtUp } from '../support/search/caught-up.ts';
import { type IndexServer, startIndexServer } from '../support/servers/index-server.ts';
import { until } from '../support/until.ts';
import { hubOn } from './hubs.ts';
import { someManifests } from './ingest/test-ingest.ts';
import { syncingProcess } from './syncing.ts';

function publish(host: IndexServer, path: string, ...ids: string[]): string {
  for (const manifest of someManifests(...ids)) host.put(`/m/${manifest.id}.json`, manifest);
  host.put(path, { manifests: ids.map((id) => `m/${id}.json`) });
  return host.url(path);
}

test('sync: counts the results of every remote, however many there are', async (t) => {
  const host = await startIndexServer(t);
  const urls = Array.from({ length: 55 }, (_, index) => publish(host, `/${index}.json`, `only-${index}`));
  const { hub } = await hubOn(t, await emptyDatabase(t, 'sqlite'), { HUB_REMOTES: urls.join(',') });
  const { results } = await hub.syncRemotes();
  assert.deepEqual(new Set(results.map(({ url }) => url)), new Set(urls));
  assert.ok(results.every(({ ok, stats }) => ok && stats.created === 1));
});

testOnEveryEngine('sync: seeds, ingests, and reports the outcome', async (t, address) => {
  const host = await startIndexServer(t);
  const one = publish(host, '/one.json', 'a', 'b');
  const two = publish(host, '/two.json', 'c');
  const bad = host.url('/none.json');
  const { hub, world } = await hubOn(t, address, { HUB_REMOTES: `${one},${bad},${two}` });

  const { results, ...report } = await hub.syncRemotes();
  assert.deepEqual(report, {
    seeded: true,
    ingested: [one, two].toSorted(),
    errors: { [bad]: 'answered 404' },
    synced: false,
    count: 3,
    registered: 0,
    failed: 0,
    note: 'No gateway is configured (MCP_GATEWAY_URL), so no server was registered.',
  });
  assert.deepEqual(Object.fromEntries(results.map(({ url, ok, stats }) => [url, [ok, stats.created, stats.failed]])), {
    [one]: [true, 2, 0],
    [two]: [true, 1, 0],
    [bad]: [false, 0, 0],
  });
  assert.equal((await hub.countEntities()).tool, 3);
  const again = await hub.syncRemotes();
  assert.deepEqual([again.seeded, again.count], [false, 3]);

  const { items } = await hub.listRemotes();
  assert.deepEqual(items[0], {
    url: bad,
    name: null,
    priority: 0,
    enabled: true,
    register: 'all',
    credentials: false,
    last_sync_at: '2026-06-01T12:00:00.000Z',
    last_status: 'failed',
    last_error: 'answered 404',
    last_note: null,
    shrunk: false,
    entities: 0,
    etag: false,
  });
  assert.deepEqual(items[1], {
    url: one,
    name: null,
    priority: 0,
    enabled: true,
    register: 'all',
    credentials: false,
    last_sync_at: '2026-06-01T12:00:00.000Z',
    last_status: 'ok',
    last_error: null,
    last_note: null,
    shrunk: false,
    entities: 2,
    etag: true,
  });
  const failures = world.logged.filter(({ level }) => level === 'warn').map(({ message }) => message);
  assert.ok(failures.includes(`Could not ingest ${bad}`));
});

test('ingest: one remote, all of them, or an address that is not a remote', async (t) => {
  const address = await emptyDatabase(t, 'sqlite');
  const host = await startIndexServer(t);
  const { hub } = await hubOn(t, address);
  const one = publish(host, '/one.json', 'a');
  const two = publish(host, '/two.json', 'b');
  await hub.addRemote(one);
  await hub.addRemote(host.url('/none.json'));

  const all = await hub.ingest();
  assert.deepEqual(
    all.results.map(({ url, ok }) => [url, ok]),
    [
      [host.url('/none.json'), false],
      [one, true],
    ],
  );
  const odd = await hub.ingest(` ${two}#part `);
  assert.deepEqual(
    odd.results.map(({ url, ok, stats }) => [url, ok, stats.created]),
    [[two, true, 1]],
  );
  assert.equal((await hub.listRemotes()).count, 2);
  await assert.rejects(hub.ingest('file:///etc/passwd'), { code: 'invalid_request' });
});

test('ingest: without remotes does nothing', async (t) => {
  const { hub } = await hubOn(t, await emptyDatabase(t, 'sqlite'));
  assert.deepEqual(await hub.ingest(), { results: [] });
});

test('sync: a slow remote does not delay the others', async (t) => {
  const host = await startIndexServer(t);
  const { hub } = await hubOn(t, await emptyDatabase(t, 'sqlite'));
  for (const name of ['a', 'b', 'c', 'd']) await hub.addRemote(publish(host, `/${name}.json`, name));
  const letGo = host.hold('/m/a.json');
  const syncing = hub.syncRemotes();
  while ((await hub.ingestStatus()).last.length < 3) await sleep(10);
  const { running } = await hub.ingestStatus();
  assert.deepEqual(
    running.map(({ url }) => url),
    [host.url('/a.json')],
  );
  letGo();
  assert.equal((await syncing).ingested.length, 4);
});

test('status: lists running ingests, then past ones, newest first', async (t) => {
  const host = await startIndexServer(t);
  const { hub, world } = await hubOn(t, await emptyDatabase(t, 'sqlite'));
  const url = publish(host, '/one.json', 'a', 'b');
  assert.partialDeepStrictEqual(await hub.ingestStatus(), { running: [], last: [] });
  const letGo = host.hold('/m/b.json');
  const ingesting = hub.ingest(url);
  while ((await hub.ingestStatus()).running[0]?.total !== 2) await sleep(5);
  const [run] = (await hub.ingestStatus()).running;
  assert.partialDeepStrictEqual(run, { url, finished_at: null, ok: null, error: null, manifests_seen: 2 });
  letGo();
  await ingesting;

  world.setTime('2026-06-01T13:00:00.000Z');
  host.remove('/one.json');
  await hub.ingest(url);
  const { running, last } = await hub.ingestStatus();
  assert.deepEqual(running, []);
  assert.deepEqual(
    last.map(({ started_at, ok, error, created, done }) => [started_at, ok, error, created, done]),
    [
      ['2026-06-01T13:00:00.000Z', false, 'answered 404', 0, 0],
      ['2026-06-01T12:00:00.000Z', true, null, 2, 2],
    ],
  );
});

test('progress: each caller gets only its own events', async (t) => {
  const host = await startIndexServer(t);
  const { hub } = await hubOn(t, await emptyDatabase(t, 'sqlite'));
  const [slow, slower] = [publish(host, '/slow.json', 'a'), publish(host, '/slower.json', 'b')];
  const letGo = ['/m/a.json', '/m/b.json'].map((path) => host.hold(path));
  const received: string[][] = [[], []];
  const ingesting = [slow, slower].map((url, caller) =>
    hub.ingest(url, ({ running }) => received[caller]?.push(...running.map((run) => run.url))),
  );
  // Twice, because the first may come before the other has begun.
  await until(() => received.every((urls) => urls.length >= 2));
  for (const go of letGo) go();
  await Promise.all(ingesting);
  assert.deepEqual(
    received.map((urls) => [...new Set(urls)]),
    [[slow], [slower]],
  );
});

testOnEveryEngine(
  'concurrency: one syncs, the other gets an error, in one hub and in two on one database',
  async (t, address) => {
    const host = await startIndexServer(t);
    const url = publish(host, '/one.json', 'a');
    const { hub } = await hubOn(t, address, { HUB_REMOTES: url });
    const { hub: other } = await hubOn(t, address, { HUB_REMOTES: url });
    const letGo = host.hold('/m/a.json');

    const syncing = hub.syncRemotes();
    while (host.requests.length === 0) await sleep(5);
    await assert.rejects(hub.syncRemotes(), { code: 'sync_running' });
    await assert.rejects(other.syncRemotes(), { code: 'sync_running' });
    const [ingested] = (await other.ingest(url)).results;
    assert.deepEqual([ingested?.ok, ingested?.error], [false, 'is already being ingested']);
    letGo();
    assert.deepEqual((await syncing).ingested, [url]);

    assert.deepEqual((await other.syncRemotes()).ingested, [url], 'it is free afterwards');
  },
);

testOnEveryEngine('concurrency: of many that start together, exactly one syncs', async (t, address) => {
  const host = await startIndexServer(t);
  const url = publish(host, '/one.json', 'a');
  host.delay(() => 150);
  const { hub } = await hubOn(t, address, { HUB_REMOTES: url });
  const { hub: other } = await hubOn(t, address, { HUB_REMOTES: url });
  const outcomes = await Promise.allSettled([hub, other, hub, other, hub, other].map((each) => each.syncRemotes()));
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
});

testOnEveryEngine('concurrency: the lock ends with its process', async (t, address) => {
  const host = await startIndexServer(t);
  const url = publish(host, '/one.json', 'a');
  const { hub } = await hubOn(t, address);
  await hub.addRemote(url);
  host.delay((path) => (path === '/m/a.json' ? 60_000 : 0));
  const holder = syncingProcess(t);
  holder.start(address);
  while (host.seen('/m/a.json').length === 0) await sleep(10);
  await assert.rejects(hub.syncRemotes(), { code: 'sync_running' });

  await holder.kill();
  host.delay(() => 0);
  // PostgreSQL notices a moment later that the two clients of the process (sync and remote) have gone.
  for (let tries = 1_000; tries > 0; tries -= 1) {
    const report = await hub.syncRemotes().catch(() => undefined);
    if (report && report.ingested.length > 0) return assert.deepEqual(report.ingested, [url]);
    await sleep(20);
  }
  assert.fail('the lock is still held');
});

test('search: omits entities that no remote lists until one lists them again', async (t) => {
  const address = await emptyDatabase(t, 'sqlite');
  const host = await startIndexServer(t);
  const { hub } = await hubOn(t, address);
  const url = publish(host, '/one.json', 'alpha', 'beta', 'gamma');
  await hub.addRemote(url);
  await hub.ingest();
  const found = async (text: string) => (await caughtUp(() => hub.search(aSearch(text)))).items.map(({ id }) => id);
  assert.deepEqual((await found('beta')).slice(0, 1), ['tool:beta@1.0.0']);
  assert.equal((await found('')).length, 3);

  publish(host, '/one.json', 'alpha', 'gamma');
  await hub.ingest();
  assert.ok(!(await found('beta')).includes('tool:beta@1.0.0'));
  assert.equal((await found('')).length, 2);

  publish(host, '/one.json', 'alpha', 'beta', 'gamma');
  await hub.ingest();
  assert.deepEqual((await found('beta')).slice(0, 1), ['tool:beta@1.0.0']);
});

test('close: running work stops soon, and nothing is lost', SOON, async (t) => {
  const host = await startIndexServer(t);
  const address = await emptyDatabase(t, 'sqlite');
  const { hub } = await hubOn(t, address);
  const url = publish(host, '/one.json', 'a', 'b');
  await hub.addRemote(url);
  host.delay((path) => (path === '/m/b.json' ? 600_000 : 0));
  const syncing = hub.syncRemotes();
  while (host.seen('/m/b.json').length === 0) await sleep(5);
  await hub.close();
  assert.deepEqual((await syncing).errors, { [url]: 'was stopped, because the hub is closing' });

  host.delay(() => 0);
  const { hub: next } = await hubOn(t, address);
  const [remote] = (await next.listRemotes()).items;
  assert.deepEqual([remote?.last_status, remote?.last_error], [null, null], 'the remote is not at fault');
  assert.deepEqual((await next.syncRemotes()).ingested, [url]);
  assert.equal((await next.countEntities()).tool, 2);
});

function aSearch(text: string): SearchQuery {
  const none = { capabilities: [], frameworks: [], providers: [], transports: [] };
  return {
    text,
    filters: { ...none, includeInactive: false, includePending: true, prerelease: false },
    mode: 'keyword',
    sort: 'relevance',
    offset: 0,
    withFitReason: false,
    withSnippets: false,
    withFacets: false,
    explain: false,
  };
}
