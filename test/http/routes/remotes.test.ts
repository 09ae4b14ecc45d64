import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import {
  IngestReport,
  IngestStatus,
  RejectionPage,
  RemoteAdded,
  RemoteList,
  RemoteRemoved,
  SyncReport,
} from '../../../src/remotes/contract.ts';
import { aManifest } from '../../support/builders.ts';
import { testHub } from '../../support/hub.ts';
import { SOON } from '../../support/in-time.ts';
import { type IndexServer, startIndexServer } from '../../support/servers/index-server.ts';
import { shared } from '../../support/shared.ts';
import { eventsOf } from '../events.ts';
import { assertProblem, inject } from '../wire.ts';

type Method = 'GET' | 'POST' | 'DELETE';

async function call(app: FastifyInstance, method: Method, url: string, payload?: object) {
  const answer = await inject(app, { method, url, ...(payload ? { payload } : {}) });
  return { ...answer, json: () => JSON.parse(answer.body) };
}

function publish(host: IndexServer, path: string, ...ids: string[]): string {
  for (const id of ids) host.put(`/m/${id}.json`, aManifest({ type: 'tool', id, name: id }));
  host.put(path, { manifests: ids.map((id) => `m/${id}.json`) });
  return host.url(path);
}

for (const prefix of ['', '/catalog']) {
  test(`${prefix}/remotes: lists, adds and removes`, async (t) => {
    const { app } = await testHub(t, { settings: { HUB_REMOTES: 'https://seed.example/i.json' } });
    const url = 'https://a.example/i.json';
    const seeded = await call(app, 'GET', `${prefix}/remotes`);
    assert.deepEqual(RemoteList.parse(seeded.json()), {
      items: [
        {
          url: 'https://seed.example/i.json',
          name: null,
          priority: 0,
          enabled: true,
          register: 'all',
          credentials: false,
          last_sync_at: null,
          last_status: null,
          last_error: null,
          last_note: null,
          shrunk: false,
          entities: 0,
          etag: false,
        },
      ],
      count: 1,
    });
    const added = await call(app, 'POST', `${prefix}/remotes`, {
      url: 'HTTPS://A.EXAMPLE/i.json#x',
      comment: 'unknown fields are ignored',
    });
    assert.equal(added.status, 201);
    assert.deepEqual(RemoteAdded.parse(added.json()), { added: true, url, total: 2 });
    const again = await call(app, 'POST', `${prefix}/remotes`, { url });
    assert.deepEqual([again.status, again.json()], [201, { added: false, url, total: 2 }]);
    const listed = (await call(app, 'GET', `${prefix}/remotes`)).json();
    assert.deepEqual(
      listed.items.map((item: { url: string }) => item.url),
      [url, 'https://seed.example/i.json'],
    );
    const removed = await call(app, 'DELETE', `${prefix}/remotes`, { url });
    assert.deepEqual(
      [removed.status, RemoteRemoved.parse(removed.json())],
      [200, { removed: true, url, total: 1, purged: 0, missing: 0, passed_on: 0 }],
    );
    const unknown = await call(app, 'DELETE', `${prefix}/remotes`, { url });
    assert.deepEqual(
      [unknown.status, unknown.json()],
      [200, { removed: false, url, total: 1, purged: 0, missing: 0, passed_on: 0 }],
    );
    const byQuery = await call(
      app,
      'DELETE',
      `${prefix}/remotes?url=${encodeURIComponent('https://seed.example/i.json')}`,
    );
    assert.deepEqual([byQuery.status, byQuery.json().removed], [200, true]);
  });
}

test('/ingest: ingests one remote by body or query, or all of them', async (t) => {
  const host = await startIndexServer(t);
  const { app } = await testHub(t);
  const one = publish(host, '/one.json', 'a');
  const two = publish(host, '/two.json', 'b', 'lost');
  host.remove('/m/lost.json');
  const byBody = await call(app, 'POST', '/ingest', { url: one });
  assert.equal(byBody.status, 200);
  const [result] = IngestReport.parse(byBody.json()).results;
  assert.deepEqual([result?.url, result?.ok, result?.stats.created], [one, true, 1]);
  const byQuery = await call(app, 'POST', `/ingest?remote=${encodeURIComponent(two)}`);
  assert.deepEqual(byQuery.json().results[0].stats.errors, [{ url: host.url('/m/lost.json'), error: 'answered 404' }]);
  assert.deepEqual((await call(app, 'POST', '/ingest')).json(), { results: [] }, 'nothing was stored');
  await call(app, 'POST', '/remotes', { url: one });
  const all = await call(app, 'POST', '/catalog/ingest', {});
  assert.deepEqual(
    all.json().results.map(({ url, ok }: { url: string; ok: boolean }) => [url, ok]),
    [[one, true]],
  );
  const empty = await inject(app, {
    method: 'POST',
    url: '/ingest',
    headers: { 'content-type': 'application/json' },
    payload: '',
  });
  assert.equal(empty.status, 200);
});

test('/remotes/sync: returns the body of the specification', async (t) => {
  const host = await startIndexServer(t);
  const url = publish(host, '/one.json', 'a');
  const { app } = await testHub(t, { settings: { HUB_REMOTES: url } });
  const answer = await call(app, 'POST', '/remotes/sync');
  assert.equal(answer.status, 200);
  const { results, ...report } = SyncReport.parse(answer.json());
  assert.deepEqual(
    results.map((each) => [each.url, each.ok, each.stats.created]),
    [[url, true, 1]],
  );
  assert.deepEqual(report, {
    seeded: true,
    ingested: [url],
    errors: {},
    synced: false,
    count: 1,
    registered: 0,
    failed: 0,
    note: 'No gateway is configured (MCP_GATEWAY_URL), so no server was registered.',
  });
  const again = await call(app, 'POST', '/catalog/remotes/sync');
  assert.deepEqual(SyncReport.parse(again.json()).ingested, [url], 'the alias does the same');
});

/** Its tests store nothing. */
const emptyHub = shared((t) => testHub(t));
const BAD_ADDRESSES = [
  '',
  'nonsense',
  'file:///etc/passwd',
  'https://user:pw@a.example/',
  `https://a.example/${'x'.repeat(2000)}`,
];
test('remotes: every route names an invalid address', async () => {
  const { app } = await emptyHub();
  const routes = [
    ['POST', '/remotes'],
    ['DELETE', '/remotes'],
    ['POST', '/ingest'],
    ['POST', '/catalog/ingest'],
  ] as const;
  for (const url of BAD_ADDRESSES) {
    for (const [method, path] of routes) {
      const { errors } = assertProblem(await call(app, method, path, { url }), 'invalid_request');
      assert.deepEqual(
        errors?.map((fault) => fault.path),
        ['url'],
      );
    }
    assertProblem(await call(app, 'GET', `/remotes/rejections?url=${encodeURIComponent(url)}`), 'invalid_request');
  }
});

test('remotes: the name that rules use for published servers is reserved, in any case', async () => {
  const { app } = await emptyHub();
  for (const name of ['published', ' Published '])
    for (const method of ['POST', 'PATCH'] as const) {
      const payload = { url: 'https://a.example/', name };
      const answer = await inject(app, { method, url: '/remotes', payload });
      assert.match(assertProblem(answer, 'invalid_request').detail, /name: is reserved for the hub/);
    }
});

test('remotes: refuses a body without the required address', async () => {
  const { app } = await emptyHub();
  for (const method of ['POST', 'DELETE'] as const) {
    assertProblem(await call(app, method, '/remotes', {}), 'invalid_request');
    assertProblem(await call(app, method, '/remotes', { url: 7 }), 'invalid_request');
    const { detail } = assertProblem(await call(app, method, '/remotes', { url: '' }), 'invalid_request');
    assert.match(detail, /url: must not be empty/);
  }
});

test('ingest: treats a null address as absent, as typed clients send it', async () => {
  const { app } = await emptyHub();
  const answer = await call(app, 'POST', '/ingest', { url: null });
  assert.deepEqual([answer.status, answer.json()], [200, { results: [] }]);
});

test('rejections: paged, for all remotes or for one, in any spelling of its address', async (t) => {
  const host = await startIndexServer(t);
  const { app } = await testHub(t);
  host.put('/one.json', ['a.json', 'b.json', 'c.json']);
  host.put('/two.json', ['d.json']);
  for (const path of ['/one.json', '/two.json']) await call(app, 'POST', '/ingest', { url: host.url(path) });
  const all = RejectionPage.parse((await call(app, 'GET', '/remotes/rejections')).json());
  assert.deepEqual([all.total, all.limit, all.offset], [4, 100, 0]);
  const url = `${host.url('/x/../one.json')}#part`;
  const page = (await call(app, 'GET', `/remotes/rejections?url=${encodeURIComponent(url)}&limit=2&offset=1`)).json();
  assert.deepEqual(
    [page.total, page.items.map((item: { url: string }) => item.url)],
    [3, [host.url('/b.json'), host.url('/c.json')]],
  );
  for (const query of ['limit=0', 'limit=1001', 'offset=-1', 'limit=many']) {
    assertProblem(await call(app, 'GET', `/remotes/rejections?${query}`), 'invalid_request');
  }
});

test('status: is public, and shows running ingests', async (t) => {
  const host = await startIndexServer(t);
  const { app } = await testHub(t, { settings: { API_TOKEN: 'secret' } });
  const url = publish(host, '/one.json', 'a', 'b');
  const letGo = host.hold('/m/b.json');
  const headers = { authorization: 'Bearer secret' };
  const ingesting = inject(app, { method: 'POST', url: '/ingest', payload: { url }, headers });
  let status = IngestStatus.parse((await call(app, 'GET', '/ingest/status')).json());
  while (status.running[0]?.total !== 2) {
    await sleep(5);
    status = (await call(app, 'GET', '/ingest/status')).json();
  }
  assert.partialDeepStrictEqual(status.running[0], { url, ok: null, finished_at: null });
  letGo();
  await ingesting;
  const { running, last } = IngestStatus.parse((await call(app, 'GET', '/ingest/status')).json());
  assert.deepEqual([running.length, last.length, last[0]?.created, last[0]?.catalog_size], [0, 1, 2, 2]);
});

test('sync: a second concurrent sync gets 409, also when it accepts events', async (t) => {
  const host = await startIndexServer(t);
  const { app } = await testHub(t, { settings: { HUB_REMOTES: publish(host, '/one.json', 'a') } });
  const letGo = host.hold('/one.json');
  const first = call(app, 'POST', '/remotes/sync');
  while (host.requests.length === 0) await sleep(5);
  assertProblem(await call(app, 'POST', '/catalog/remotes/sync'), 'sync_running');
  const headers = { accept: 'text/event-stream' };
  assertProblem(await inject(app, { method: 'POST', url: '/remotes/sync', headers }), 'sync_running');
  letGo();
  assert.equal((await first).status, 200);
});

for (const path of ['/ingest', '/remotes/sync']) {
  test(`${path}: streams progress, and ends with the ordinary body`, async (t) => {
    const host = await startIndexServer(t);
    const url = publish(host, '/one.json', 'a', 'b');
    const { listen } = await testHub(t, { settings: { HUB_REMOTES: url } });
    const letGo = host.hold('/m/b.json');
    const address = await listen();
    const stream = async (prefix: string) => {
      const headers = { accept: 'application/json, Text/Event-Stream;q=0.9', 'accept-encoding': 'br, gzip' };
      const response = await fetch(`${address}${prefix}${path}`, { method: 'POST', headers });
      assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
      let text = '';
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk;
        if (text.includes('"total":2')) letGo();
      }
      return eventsOf(text);
    };
    const events = await stream('');
    const last = events.pop();
    assert.equal(last?.event, 'result');
    if (path.endsWith('sync')) assert.deepEqual(SyncReport.parse(last.data).ingested, [url]);
    else assert.equal(IngestReport.parse(last.data).results[0]?.stats.created, 2);
    assert.ok(events.length >= 1 && events.every(({ event }) => event === 'progress'));
    // The first that knows the total was sent before the second manifest arrived; later ones may show the end.
    const underway = events.find(({ data }) => JSON.stringify(data).includes('"total":2'));
    assert.partialDeepStrictEqual(underway?.data, { running: [{ url, total: 2, finished_at: null }] });
    assert.equal((await stream('/catalog')).at(-1)?.event, 'result', 'the alias does the same');
  });
}

test('ingest: continues when the client disconnects', async (t) => {
  const host = await startIndexServer(t);
  const { hub, listen } = await testHub(t);
  const address = await listen();
  for (const accept of ['application/json', 'text/event-stream']) {
    const name = accept.replace('/', '-');
    const url = publish(host, `/${name}.json`, name);
    const letGo = host.hold(`/m/${name}.json`);
    const leaving = new AbortController();
    const headers = { 'content-type': 'application/json', accept };
    const body = JSON.stringify({ url });
    const answer = fetch(`${address}/ingest`, { method: 'POST', headers, body, signal: leaving.signal });
    // A stream may have begun by then.
    const request = answer.then((response) => response.text());
    while (host.seen(`/m/${name}.json`).length === 0) await sleep(5);
    leaving.abort();
    await assert.rejects(request);
    letGo();
    while ((await hub.ingestStatus()).running.length > 0) await sleep(10);
    assert.equal((await hub.getEntity(`tool:${name}`)).name, name);
  }
});

test('ingest: other requests are answered while it runs', SOON, async (t) => {
  const host = await startIndexServer(t);
  const { app, hub } = await testHub(t, { manifests: [aManifest()] });
  const url = publish(host, '/one.json', ...Array.from({ length: 200 }, (_, number) => `m${number}`));
  const paths = ['/health', '/catalog/entities/mcp_server:pdf-tables', '/remotes', '/ingest/status'];
  const letGo = host.hold('/m/m199.json');
  const ingesting = hub.ingest(url);
  // A request that waits for the ingest would never end.
  for (let rounds = 0; rounds < 20; rounds += 1) {
    for (const path of paths) assert.equal((await inject(app, path)).status, 200);
    await sleep(5);
  }
  letGo();
  assert.equal((await ingesting).results[0]?.stats.created, 200);
});
