import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFetch } from '../../../src/lib/net/fetch.ts';
import { FetchError } from '../../../src/lib/net/fetch-error.ts';
import type { FetchRequest } from '../../../src/lib/world.ts';
import { createPoliteFetch, type PoliteFetchOptions } from '../../../src/remotes/fetching/polite-fetch.ts';
import { type Answer, startIndexServer } from '../../support/servers/index-server.ts';

function politely(
  t: TestContext,
  {
    requestsPerHost = 4,
    backoffMs = ((_attempt) => 1) as (attempt: number) => number,
  }: Partial<PoliteFetchOptions> = {},
) {
  const { fetch, close } = createFetch({ allowPrivate: true });
  t.after(close);
  const polite = createPoliteFetch({ fetch, requestsPerHost, backoffMs });
  return (url: string, some: Partial<FetchRequest> = {}) =>
    polite({ url, maxBytes: 100_000, timeoutMs: 10_000, ...some });
}

for (const status of [429, 500, 502, 503, 504]) {
  test(`polite fetch: ${status} is tried up to four times`, async (t) => {
    const host = await startIndexServer(t);
    const fetch = politely(t);
    host.put('/a', 'at last');
    host.fail('/a', { status, times: 3 });
    assert.equal((await fetch(host.url('/a'))).body.toString(), 'at last');
    assert.equal(host.seen('/a').length, 4);

    host.forget();
    host.fail('/a', { status, times: 100 });
    assert.equal((await fetch(host.url('/a'))).status, status);
    assert.equal(host.seen('/a').length, 4);
  });
}

for (const status of [400, 401, 403, 404, 405, 409, 410, 418, 451]) {
  test(`polite fetch: ${status} is not retried`, async (t) => {
    const host = await startIndexServer(t);
    host.fail('/a', { status, times: 100 });
    assert.equal((await politely(t)(host.url('/a'))).status, status);
    assert.equal(host.seen('/a').length, 1);
  });
}

test('polite fetch: a broken connection is retried', async (t) => {
  const host = await startIndexServer(t);
  let left = 2;
  host.answer('/a', (_request, response) => {
    left -= 1;
    if (left >= 0) response.destroy();
    else response.end('whole');
  });
  assert.equal((await politely(t)(host.url('/a'))).body.toString(), 'whole');
  assert.equal(host.seen('/a').length, 3);
});

test('polite fetch: permanent failures are not retried: too large, refused, unknown host', async (t) => {
  const host = await startIndexServer(t);
  host.put('/large', 'x'.repeat(200_000));
  host.redirect('/inside', 'http://169.254.169.254/');
  for (const url of [host.url('/large'), host.url('/inside'), 'file:///etc/passwd', 'http://[', 'nonsense']) {
    await assert.rejects(politely(t)(url), FetchError);
  }
  assert.equal(host.requests.length, 2);
});

test('polite fetch: all requests to a host obey its Retry-After, in seconds', async (t) => {
  const host = await startIndexServer(t);
  const other = await startIndexServer(t);
  const fetch = politely(t);
  for (const path of ['/a', '/b']) host.put(path, path);
  other.put('/c', 'c');
  host.fail('/a', { status: 429, times: 1, headers: { 'retry-after': '4' } });
  const startedAt = performance.now();
  const since = () => performance.now() - startedAt;
  const first = fetch(host.url('/a'));
  while (host.seen('/a')[0]?.status !== 429) await sleep(5);
  // Measured until the response has arrived.
  await sleep(500);
  const order: string[] = [];
  const elsewhere = fetch(other.url('/c')).then(() => order.push('elsewhere'));
  const second = fetch(host.url('/b')).then(since);
  assert.equal((await first).status, 200);
  order.push('after the pause');
  await elsewhere;
  assert.deepEqual(order, ['elsewhere', 'after the pause'], 'other hosts are not affected');
  assert.ok((await second) >= 3_990, `${await second} ms`);
});

test('polite fetch: Retry-After may be a date; a past or invalid one causes no pause', async (t) => {
  const host = await startIndexServer(t);
  host.put('/a', 'a');
  // HTTP dates have whole seconds.
  const soon = new Date(Date.now() + 3_000).toUTCString();
  for (const [value, isPause] of [
    [soon, true],
    ['Thu, 01 Jan 1970 00:00:00 GMT', false],
    ['later', false],
    ['0', false],
    ['-5', false],
  ] as const) {
    host.fail('/a', { status: 503, times: 1, headers: { 'retry-after': value } });
    const startedAt = performance.now();
    assert.equal((await politely(t)(host.url('/a'))).status, 200);
    const took = performance.now() - startedAt;
    if (isPause) assert.ok(took > 1_500, `${value}: ${took} ms`);
  }
});

test('polite fetch: a pause over the time limit fails at once, and blocks the host meanwhile', async (t) => {
  const host = await startIndexServer(t);
  const fetch = politely(t);
  host.fail('/a', { status: 429, times: 100, headers: { 'retry-after': '120' } });
  host.put('/b', 'b');
  await assert.rejects(fetch(host.url('/a')), /^FetchError: answered 429 and asks for a pause of 2 minutes$/);
  await assert.rejects(
    fetch(host.url('/b')),
    /^FetchError: was not requested: its host asks for a pause of 2 minutes$/,
  );
  assert.equal(host.requests.length, 1);
});

test('polite fetch: a Retry-After of a day is limited to an hour', async (t) => {
  const host = await startIndexServer(t);
  host.fail('/a', { status: 429, times: 100, headers: { 'retry-after': '86400' } });
  await assert.rejects(politely(t)(host.url('/a')), /asks for a pause of 60 minutes$/);
});

test('polite fetch: the time limit covers all tries and pauses', async (t) => {
  const host = await startIndexServer(t);
  host.fail('/busy', { status: 429, times: 1_000, headers: { 'retry-after': '5' } });
  host.fail('/down', { status: 503, times: 1_000 });
  host.answer('/hangs', () => {});
  const limit = { timeoutMs: 8_000 };
  const down = politely(t, { backoffMs: () => 3_000 })(host.url('/down'), limit);
  await Promise.all([
    assert.rejects(politely(t)(host.url('/busy'), limit), /asks for a pause of 5 seconds$/),
    assert.rejects(politely(t)(host.url('/hangs'), limit), /did not answer within 8 s$/),
  ]);
  assert.equal((await down).status, 503);
  assert.equal(host.seen('/busy').length, 2, 'a second pause would not fit');
  assert.equal(host.seen('/down').length, 3);
  assert.equal(host.seen('/hangs').length, 1);
});

test('polite fetch: time in the queue does not count', async (t) => {
  const host = await startIndexServer(t);
  host.put('/a', 'a');
  host.delay(() => 1_000);
  const fetch = politely(t, { requestsPerHost: 1 });
  const replies = await Promise.all(Array.from({ length: 6 }, () => fetch(host.url('/a'), { timeoutMs: 5_500 })));
  assert.ok(replies.every(({ status }) => status === 200));
});

test('polite fetch: a stop ends a pause early', async (t) => {
  const host = await startIndexServer(t);
  host.fail('/a', { status: 429, times: 100, headers: { 'retry-after': '100' } });
  const some = { signal: AbortSignal.timeout(100), timeoutMs: 200_000 };
  await assert.rejects(politely(t)(host.url('/a'), some), { name: 'AbortError' });
});

for (const [name, answer] of [
  ['hangs', () => {}],
  ['fails', (_request, response) => void response.writeHead(503).end()],
  ['breaks off', (_request, response) => void response.destroy()],
] satisfies [string, Answer][]) {
  test(`polite fetch: a host that ${name} is given up for the run, and affects no other host`, async (t) => {
    const [bad, good] = [await startIndexServer(t), await startIndexServer(t)];
    const fetch = politely(t, { requestsPerHost: 3 });
    bad.answer('/a', answer);
    good.put('/a', 'a');
    const { signal } = new AbortController();
    const some = { signal, timeoutMs: 50 };
    const asked = Array.from({ length: 100 }, () => fetch(bad.url('/a'), some).catch((error: Error) => error));
    const outcomes = await Promise.all(asked);
    const isNotAsked = (outcome: unknown) => outcome instanceof Error && /was not requested/.test(outcome.message);
    // Four with all their tries, and the requests in flight at that time.
    assert.ok(bad.requests.length <= 4 * 7, `${bad.requests.length} requests`);
    assert.ok(outcomes.filter(isNotAsked).length >= 90);
    assert.equal((await fetch(good.url('/a'), { signal })).status, 200);

    bad.forget();
    bad.answer('/a', (_request, response) => void response.end('back again'));
    const next = await fetch(bad.url('/a'), { signal: new AbortController().signal });
    assert.equal(next.body.toString(), 'back again', 'the next run requests it again');
  });
}

test('polite fetch: one hanging request does not stop others that are answered', async (t) => {
  const host = await startIndexServer(t);
  const fetch = politely(t, { requestsPerHost: 2 });
  host.answer('/hangs', () => {});
  host.put('/good', 'good');
  const { signal } = new AbortController();
  const hanging = fetch(host.url('/hangs'), { signal, timeoutMs: 300 }).catch((error: Error) => error);
  const meanwhile = { isOver: false };
  const answers = (async () => {
    while (!meanwhile.isOver) await fetch(host.url('/good'), { signal });
  })();
  assert.match(String(await hanging), /did not answer/);
  meanwhile.isOver = true;
  await answers;
  assert.equal((await fetch(host.url('/good'), { signal })).status, 200);
});

test('polite fetch: a short outage does not give up a host', async (t) => {
  const host = await startIndexServer(t);
  const fetch = politely(t);
  host.fail('/a', { status: 503, times: 8 * 4 });
  host.put('/a', 'back');
  const { signal } = new AbortController();
  const ask = async () => (await fetch(host.url('/a'), { signal })).status;
  const statuses = await Promise.all(Array.from({ length: 20 }, ask));
  assert.equal(statuses.filter((status) => status === 200).length >= 12, true, statuses.join());
});

test('polite fetch: a host that answers now and then is not given up', async (t) => {
  const host = await startIndexServer(t);
  const fetch = politely(t, { requestsPerHost: 1 });
  host.fail('/bad', { status: 500, times: 1_000 });
  host.put('/good', 'good');
  const { signal } = new AbortController();
  for (let round = 0; round < 3; round += 1) {
    for (const path of ['/bad', '/bad', '/good']) await fetch(host.url(path), { signal });
  }
  assert.equal(host.seen('/bad').length, 6 * 4);
});

test('polite fetch: without Retry-After, waits longer before each retry', async (t) => {
  const host = await startIndexServer(t);
  const { fetch, close } = createFetch({ allowPrivate: true });
  t.after(close);
  const at: number[] = [];
  host.answer('/a', (_request, response) => {
    at.push(performance.now());
    response.writeHead(503).end();
  });
  await createPoliteFetch({ fetch, requestsPerHost: 1 })({ url: host.url('/a'), maxBytes: 100, timeoutMs: 20_000 });
  const waits = at.slice(1).map((each, index) => each - (at[index] ?? 0));
  assert.equal(waits.length, 3);
  for (const [index, leastMs] of [250, 500, 1_000].entries())
    assert.ok((waits[index] ?? 0) >= leastMs - 5, `wait ${index + 1}: ${waits[index]} ms`);
});

test('polite fetch: a stopped request leaves the queue and its turn to others', async (t) => {
  const host = await startIndexServer(t);
  host.put('/b', 'b');
  const fetch = politely(t, { requestsPerHost: 1 });
  const letGo = host.hold('/a');
  const first = fetch(host.url('/a'), { timeoutMs: 10_000 });
  const stopped = new AbortController();
  const waiting = [stopped.signal, undefined].map((signal) => fetch(host.url('/b'), { signal }));
  const outcome = assert.rejects(waiting[0] as Promise<unknown>, { name: 'AbortError' });
  stopped.abort();
  await outcome;
  await assert.rejects(fetch(host.url('/b'), { signal: stopped.signal }), 'stopped before it waited');
  letGo();
  await first;
  assert.equal((await waiting[1])?.body.toString(), 'b');
  assert.equal(host.seen('/b').length, 1);
});
