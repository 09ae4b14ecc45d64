import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchInLanes } from '../../../src/remotes/fetching/fetch-lanes.ts';
import type { FetchedManifest } from '../../../src/remotes/fetching/fetch-manifest.ts';
import { createHostLanes, type HostLanes } from '../../../src/remotes/fetching/host-lanes.ts';
import type { ListedEntry } from '../../../src/remotes/fetching/parse-index-worker.ts';

interface Input {
  entry: ListedEntry;
}

const LIMITS = { requestsPerHost: 32 };

function addresses(host: string, count: number): Input[] {
  return Array.from({ length: count }, (_, number) => ({ entry: { url: `https://${host}/${number}.json` } }));
}

async function* inGroups(...groups: Input[][]): AsyncGenerator<Input[]> {
  yield* groups;
}

function fetchedText(url: string, text = ''): FetchedManifest {
  return { outcome: 'fetched', url, text, member: { url, etag: null, lastModified: null, digest: '' } };
}

const answer = async ({ entry }: Input) => fetchedText(entry.url);
const isOf = (host: string) => (each: { url: string }) => new URL(each.url).host === host;

test('fetch lanes: every entry gets a result, in batches of limited size', async () => {
  const batches = await Array.fromAsync(
    fetchInLanes(inGroups(addresses('a.test', 700), addresses('b.test', 300)), LIMITS, answer),
  );
  assert.ok(batches.every(({ length }) => length > 0 && length <= 500));
  assert.equal(new Set(batches.flat().map(({ url }) => url)).size, 1_000);
});

test('fetch lanes: a silent host does not delay another, however many of its entries come first', async () => {
  const hanging = Promise.withResolvers<void>();
  const results: FetchedManifest[] = [];
  let asked = 0;
  const lanes = fetchInLanes(
    inGroups(addresses('dead.test', 5_000), addresses('good.test', 600)),
    LIMITS,
    async (input) => {
      if (!isOf('dead.test')(input.entry)) return answer(input);
      asked += 1;
      await hanging.promise;
      return { outcome: 'failed', url: input.entry.url, error: 'did not answer', isTemporary: true };
    },
  );
  const all = (async () => {
    for await (const batch of lanes) results.push(...batch);
  })();
  while (results.filter(isOf('good.test')).length < 600) await sleep(5);
  assert.equal(asked, 4);
  assert.equal(results.length, 600);
  hanging.resolve();
  await all;
  assert.equal(results.length, 5_600);
});

function startAll({ next }: HostLanes<number>) {
  const started = [];
  for (let each = next(); each; each = next()) started.push(each);
  return started;
}

test('host lanes: hosts without a response use at most half of the slots', () => {
  const lanes = createHostLanes<number>({ requestsPerHost: 32, mostUnderWay: 128 });
  for (let number = 0; number < 200; number += 1) lanes.add(`dead-${number % 40}.test`, number);
  const started = startAll(lanes);
  assert.equal(started.length, 64);
  for (const { lane } of started) lanes.ended(lane, { isAnswered: false });
  assert.equal(startAll(lanes).length, 64);
});

test('host lanes: each slow host leaves slots for the next host', () => {
  const lanes = createHostLanes<number>({ requestsPerHost: 256, mostUnderWay: 128 });
  const used = ['a.test', 'b.test', 'c.test'].map((host) => {
    for (let number = 0; number < 300; number += 1) lanes.add(host, number);
    const [first] = startAll(lanes);
    assert.equal(first?.lane.host, host);
    lanes.ended(first.lane, { isAnswered: true });
    startAll(lanes);
    return first.lane.underWay;
  });
  assert.deepEqual(used, [64, 32, 16]);
});

test('fetch lanes: fetching pauses while large results wait to be read', async () => {
  let started = 0;
  const heavy = 'x'.repeat(1_000_000);
  const lanes = fetchInLanes(inGroups(addresses('a.test', 200)), LIMITS, async ({ entry }) => {
    started += 1;
    await sleep(1);
    return fetchedText(entry.url, heavy);
  });
  const first = await lanes.next();
  assert.equal(first.value?.length, 2, 'a batch has a limited weight, too');
  await sleep(200);
  // Sixteen million characters wait, and one host may have 32 more requests in flight.
  assert.ok(started <= 2 + 17 + 32, `${started} were started`);
  let taken = 2;
  for await (const batch of lanes) taken += batch.length;
  assert.equal(taken, 200);
});

test('fetch lanes: entries without a request are limited too', async () => {
  let started = 0;
  const inline = Array.from({ length: 5_000 }, (_, number) => ({
    entry: { url: `https://a.test/${number}`, text: '{}' },
  }));
  const lanes = fetchInLanes(inGroups(inline), LIMITS, async (input) => {
    started += 1;
    return answer(input);
  });
  let taken = (await lanes.next()).value?.length ?? 0;
  await sleep(20);
  assert.ok(started - taken <= 1_000, `${started} were started`);
  for await (const batch of lanes) taken += batch.length;
  assert.equal(taken, 5_000);
});

test('fetch lanes: a rejection arrives after the finished results and ends the run', async () => {
  const groups = async function* () {
    yield addresses('a.test', 10);
    throw new Error('the index broke off');
  };
  const seen: FetchedManifest[] = [];
  const failing = async (source: AsyncIterable<Input[]>, fetch: (input: Input) => Promise<FetchedManifest>) => {
    for await (const batch of fetchInLanes(source, LIMITS, fetch)) seen.push(...batch);
  };
  await assert.rejects(failing(groups(), answer), /the index broke off/);
  assert.ok(seen.length >= 4);
  const broken = (input: Input) =>
    input.entry.url.endsWith('/7.json') ? Promise.reject(new Error('no 7')) : answer(input);
  await assert.rejects(failing(inGroups(addresses('a.test', 10)), broken), /no 7/);
  // Node ends the process on an unhandled rejection.
  await sleep(5);
});

test('fetch lanes: nothing more is fetched once the reader stops', async () => {
  let started = 0;
  const lanes = fetchInLanes(inGroups(addresses('a.test', 5_000)), LIMITS, async (input) => {
    started += 1;
    await sleep(1);
    return answer(input);
  });
  for await (const batch of lanes) {
    assert.ok(batch.length > 0);
    break;
  }
  const before = started;
  await sleep(50);
  assert.equal(started, before);
});
