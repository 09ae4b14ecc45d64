import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fastify } from 'fastify';
import { HubError } from '../../src/errors.ts';
import { sendEvents } from '../../src/http/event-stream.ts';
import { asHubError, sendProblem } from '../../src/http/problem.ts';
import { eventsOf } from './events.ts';

type Work = (report: (progress: unknown) => void) => Promise<unknown>;

const logged: unknown[] = [];

async function served(t: TestContext, work: Work, heartbeatMs?: number): Promise<string> {
  const app = fastify({ genReqId: () => 'request-7' });
  app.decorate('logFailure', (_request, error) => logged.push(error));
  app.setErrorHandler((error, request, reply) => sendProblem(asHubError(error), request, reply));
  app.post('/work', (request, reply) => sendEvents(request, reply, work, heartbeatMs));
  t.after(() => app.close());
  return `${await app.listen({ host: '127.0.0.1', port: 0 })}/work`;
}

test('event stream: sends progress events, then the result', async (t) => {
  const url = await served(t, async (report) => {
    report([{ done: 1 }]);
    await sleep(20);
    report([{ text: 'line\nbreak é' }]);
    return { results: [] };
  });
  const response = await fetch(url, { method: 'POST' });
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.deepEqual(eventsOf(await response.text()), [
    { event: 'progress', data: [{ done: 1 }] },
    { event: 'progress', data: [{ text: 'line\nbreak é' }] },
    { event: 'result', data: { results: [] } },
  ]);
});

test('event stream: sends events while the work is running', async (t) => {
  const release = Promise.withResolvers<void>();
  const url = await served(t, async (report) => {
    report({ done: 1 });
    await release.promise;
    return 'end';
  });
  const response = await fetch(url, { method: 'POST' });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.match(String((await reader?.read())?.value), /event: progress/);
  release.resolve();
  assert.match(String((await reader?.read())?.value), /event: result\ndata: "end"/);
});

test('event stream: sends keep-alives during long silences', async (t) => {
  const release = Promise.withResolvers<void>();
  const work: Work = async (report) => {
    report({});
    await release.promise;
    return 'end';
  };
  const response = await fetch(await served(t, work, 10), { method: 'POST' });
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (/(still at work\s+(: )?){2}/.test(text)) release.resolve();
  }
  assert.match(text, /^event: progress\ndata: \{\}\n\n(: still at work\n\n){2,}event: result\ndata: "end"\n\n$/);
});

test('event stream: work that ends before any progress sends only its result', async (t) => {
  const url = await served(t, async () => 7);
  assert.deepEqual(eventsOf(await (await fetch(url, { method: 'POST' })).text()), [{ event: 'result', data: 7 }]);
});

test('event stream: an immediate failure has the same status as without a stream', async (t) => {
  const url = await served(t, async () => {
    throw new HubError('sync_running', 'Not now.');
  });
  const response = await fetch(url, { method: 'POST' });
  assert.equal(response.status, 409);
  assert.match(response.headers.get('content-type') ?? '', /^application\/problem\+json/);
});

test('event stream: a later failure is the last event, a problem without internals', async (t) => {
  for (const [error, code] of [
    [new HubError('database_unavailable', 'Later.'), 'database_unavailable'],
    [new Error('secret words'), 'internal_error'],
  ] as const) {
    const url = await served(t, async (report) => {
      report({});
      await sleep(10);
      throw error;
    });
    const events = eventsOf(await (await fetch(url, { method: 'POST' })).text());
    assert.deepEqual(
      events.map(({ event }) => event),
      ['progress', 'error'],
    );
    assert.partialDeepStrictEqual(events[1]?.data, { code, request_id: 'request-7' });
    assert.doesNotMatch(JSON.stringify(events), /secret/);
    assert.equal(logged.at(-1), error);
  }
});

test('event stream: the work goes on when the client disconnects', async (t) => {
  const finished = Promise.withResolvers<string>();
  const url = await served(t, async (report) => {
    for (let step = 0; step < 20; step += 1) {
      report({ step });
      await sleep(5);
    }
    finished.resolve('all steps');
    return {};
  });
  const leaving = new AbortController();
  const response = await fetch(url, { method: 'POST', signal: leaving.signal });
  await response.body?.getReader().read();
  leaving.abort();
  assert.equal(await finished.promise, 'all steps');
  await sleep(10);
});
