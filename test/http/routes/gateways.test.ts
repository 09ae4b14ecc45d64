import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { BulkRemoval, PendingPage } from '../../../src/gateway/contract.ts';
import type { SyncProgress } from '../../../src/remotes/contract.ts';
import { aManifest } from '../../support/builders.ts';
import { type TestHub, testHub } from '../../support/hub.ts';
import { type FakeGateway, SECRET, startFakeGateway } from '../../support/servers/fake-gateway.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';
import { shared } from '../../support/shared.ts';
import { assertProblem, exchange, inject, requestText } from '../wire.ts';

const H = 'https://h.example';
const aServer = (id: string, server: object) =>
  aManifest({ id, name: id, title: null, summary: '', tags: [], mcp_registration: { server } });
const uidOf = (id: string, version = '1.0.0') => `mcp_server:${id}@${version}`;

const MANIFESTS = [
  aServer('good', { transport: 'SSE', url: `${H}/good/sse` }),
  aServer('down', { transport: 'SSE', url: `${H}/down/sse` }),
  aServer('stdio', { transport: 'STDIO', exec: { cmd: ['npx'] } }),
  aManifest({ id: 'acme/bare', name: 'bare', title: null, version: 'refs/heads/main' }),
  aManifest({ type: 'tool', id: 'tool' }),
];

/** Without a gateway; its tests change nothing. */
const alone = shared((t) => testHub(t, { manifests: MANIFESTS }));

async function hubWithGateway(
  t: TestContext,
  settings: Record<string, string> = {},
): Promise<TestHub & { gateway: FakeGateway }> {
  const gateway = await startFakeGateway(t, {
    servers: { [`${H}/down/sse`]: { fault: 'refused' } },
    // The clock of test hubs is frozen, and tokens expire.
    credentials: { now: () => new Date('2026-06-01T12:00:00Z') },
  });
  const credentials = { MCP_GATEWAY_URL: `${gateway.url}/`, JWT_SECRET_KEY: SECRET, BASIC_AUTH_USERNAME: 'admin' };
  return { ...(await testHub(t, { settings: { ...credentials, ...settings }, manifests: MANIFESTS })), gateway };
}

async function pending({ app }: TestHub, query = ''): Promise<PendingPage> {
  const answer = await app.inject(`/gateways/pending${query}`);
  assert.equal(answer.statusCode, 200, answer.body);
  return PendingPage.parse(answer.json());
}

test('pending: lists every ingested, unregistered server in the format of the spec', async (t) => {
  const hub = await hubWithGateway(t);
  const { items, count, total } = await pending(hub);
  assert.deepEqual([count, total], [4, 4]);
  assert.deepEqual(
    items.find(({ uid }) => uid === uidOf('good')),
    {
      uid: uidOf('good'),
      name: 'good',
      version: '1.0.0',
      source_url: null,
      has_registration: true,
      server_url: `${H}/good/sse`,
      transport: 'SSE',
      gateway_error: null,
      gateway_registered_at: null,
      last_try_at: null,
      next_try_at: null,
      tries: 0,
      registrable: true,
      reason: null,
    },
  );
  const bare = items.find(({ name }) => name === 'bare');
  assert.deepEqual([bare?.has_registration, bare?.server_url, bare?.transport], [false, '', 'STDIO']);
  assert.match(bare?.reason ?? '', /no mcp_registration/);
});

test('pending: masks a key in the address of a manifest', async (t) => {
  const hub = await hubWithGateway(t);
  const host = await startIndexServer(t);
  host.put('/keyed.json', aServer('keyed', { transport: 'SSE', url: `${H}/keyed/sse` }));
  host.put('/index.json', { manifests: [host.url('/keyed.json?key=hunter2')] });
  await hub.app.inject({ method: 'POST', url: '/ingest', payload: { url: host.url('/index.json') } });
  const { items } = await pending(hub);
  const keyed = items.find(({ name }) => name === 'keyed');
  assert.equal(keyed?.source_url, host.url('/keyed.json?key=***'));
});

test('pending: a sync removes the registered servers and shows errors for the others', async (t) => {
  const hub = await hubWithGateway(t);
  const sync = await hub.app.inject({ method: 'POST', url: '/remotes/sync' });
  assert.equal(sync.statusCode, 200, sync.body);
  const { synced, registered, failed } = sync.json();
  assert.deepEqual({ synced, registered, failed }, { synced: true, registered: 1, failed: 3 });
  assert.equal(hub.gateway.table.gateways.length, 1);

  const { items } = await pending(hub);
  const byUid = new Map(items.map((item) => [item.uid, item]));
  assert.ok(!byUid.has(uidOf('good')));
  const down = byUid.get(uidOf('down'));
  assert.match(down?.gateway_error ?? '', /^The gateway answered 502: Failed to initialize gateway/);
  assert.deepEqual([down?.tries, down?.last_try_at], [1, '2026-06-01T12:00:00.000Z']);
  assert.equal(down?.next_try_at, null, 'background syncs are off');
  assert.match(byUid.get(uidOf('stdio'))?.gateway_error ?? '', /local process/);
  assert.equal(byUid.get(uidOf('stdio'))?.next_try_at, null);

  const entity = (await hub.app.inject(`/catalog/entities/${uidOf('down')}`)).json();
  assert.equal(entity.gateway_error, down?.gateway_error);
  assert.equal(
    (await hub.app.inject(`/catalog/entities/${uidOf('good')}`)).json().gateway_registered_at,
    '2026-06-01T12:00:00.000Z',
  );
  const history = (await hub.app.inject('/gateways/registrations')).json();
  assert.deepEqual(history, { days: [{ day: '2026-06-01', registered: 1 }], total: 1 });
  await hub.hub.blockEntity(uidOf('good'));
  const later = (await hub.app.inject('/gateways/registrations')).json();
  assert.deepEqual(later, { ...history, total: 0 }, 'what happened stays in the history');
});

test('sync: progress events count the servers in total and those done', async (t) => {
  const hub = await hubWithGateway(t);
  const isReported = Promise.withResolvers<void>();
  hub.gateway.onCall(({ method }) => (method === 'POST' ? isReported.promise : undefined));
  const seen: SyncProgress[] = [];
  await hub.hub.syncRemotes((progress) => {
    seen.push(progress);
    if (progress.registering === 2) isReported.resolve();
  });
  const { registering, registering_total } = seen.find((progress) => progress.registering !== null) ?? {};
  assert.deepEqual([registering, registering_total], [2, 4], 'servers without an address are done at once');
  assert.deepEqual((await hub.app.inject('/ingest/status')).json().registering_total, null);
});

test('sync: a manual sync retries at once; force includes servers that cannot be registered', async (t) => {
  const hub = await hubWithGateway(t);
  const post = (payload?: object) => hub.app.inject({ method: 'POST', url: '/remotes/sync', payload });
  await post();
  assert.equal((await post()).json().failed, 1);
  assert.equal((await post({ force: true })).json().failed, 3);
  const byQuery = await hub.app.inject({ method: 'POST', url: '/remotes/sync?force=true' });
  assert.equal(byQuery.json().failed, 3);
  const odd = await hub.app.inject({ method: 'POST', url: '/remotes/sync?force=perhaps' });
  assert.equal(odd.statusCode, 400, odd.body);
});

test('sync: without a gateway reports synced false and marks no server as failed', async () => {
  const hub = await alone();
  const report = (await hub.app.inject({ method: 'POST', url: '/remotes/sync' })).json();
  const { synced, registered, failed, stopped, note } = report;
  assert.deepEqual(
    { synced, registered, failed, stopped },
    { synced: false, registered: 0, failed: 0, stopped: undefined },
  );
  assert.equal(note, 'No gateway is configured (MCP_GATEWAY_URL), so no server was registered.');
  const { items, total } = await pending(hub);
  assert.equal(total, 4);
  assert.ok(items.every(({ gateway_error }) => gateway_error === null));
});

test('pending: paging, errors only, and filter by text', async (t) => {
  const hub = await hubWithGateway(t);
  await hub.hub.syncRemotes();
  const whole = await pending(hub);
  const pages = await Promise.all([0, 1, 2, 3].map((offset) => pending(hub, `?limit=1&offset=${offset}`)));
  assert.deepEqual(
    pages.flatMap(({ items }) => items),
    whole.items,
  );
  assert.deepEqual(
    pages.map(({ count, total }) => [count, total]),
    [
      [1, 3],
      [1, 3],
      [1, 3],
      [0, 3],
    ],
  );

  const names = async (query: string) => (await pending(hub, query)).items.map(({ name }) => name).toSorted();
  assert.deepEqual(await names('?q=DOWN'), ['down']);
  assert.deepEqual(await names('?q=refs/heads'), ['bare']);
  assert.deepEqual(await names('?q=connection+502'), ['down']);
  assert.deepEqual(await names('?error_only=true&q=gateway'), ['down', 'stdio']);
  assert.deepEqual(await names('?registrable=0&q=stdio'), ['stdio']);
  await hub.app.inject({ method: 'POST', url: '/gateways/pending/delete', payload: { uids: [uidOf('down')] } });
  assert.deepEqual(await names('?error_only=YES'), ['bare', 'stdio']);
  assert.deepEqual(await names('?error_only=0&unknown=1'), ['bare', 'stdio']);
});

test('pending: a registered server whose update failed is listed as an error, not as pending', async (t) => {
  const hub = await hubWithGateway(t);
  await hub.hub.syncRemotes();
  await hub.hub.load([{ document: aServer('good', { transport: 'SSE', url: `${H}/down/sse` }) }]);
  assert.equal((await hub.hub.syncRemotes()).failed, 2, 'and the unreachable one');

  const uid = uidOf('good');
  assert.ok(!(await pending(hub)).items.some((item) => item.uid === uid));
  const failed = (await pending(hub, '?error_only=true&q=good')).items;
  assert.deepEqual([failed.length, failed[0]?.uid, failed[0]?.tries], [1, uid, 1]);
  assert.match(failed[0]?.gateway_error ?? '', /^The gateway answered 502: /);
  assert.equal(failed[0]?.gateway_registered_at, '2026-06-01T12:00:00.000Z');

  const tried = await pending(hub, '?error_only=true&registrable=true');
  assert.deepEqual([tried.total, tried.failed_updates, tried.unregistrable], [2, 1, 2]);

  const payload = { all: true, error_only: true };
  const swept = await hub.app.inject({ method: 'POST', url: '/gateways/pending/delete', payload });
  assert.equal(BulkRemoval.parse(swept.json()).total_removed, 3);
  const removal = await hub.app.inject({ method: 'DELETE', url: `/gateways/pending/${uid}` });
  assert.deepEqual(removal.json(), { removed: false, uid, reason: 'already registered' });
  assert.equal((await pending(hub, '?error_only=true')).total, 1);
});

test('sync: the response says why the registration stopped', async (t) => {
  const hub = await hubWithGateway(t);
  await hub.hub.syncRemotes();
  await hub.gateway.stop();
  const { synced, stopped, note } = (await hub.app.inject({ method: 'POST', url: '/remotes/sync' })).json();
  assert.deepEqual([synced, stopped], [false, true]);
  assert.equal(note, 'Registration stopped: The gateway could not be reached: nothing listens there (ECONNREFUSED).');
});

const badQueries = [
  'registrable=maybe',
  'limit=0',
  'limit=1001',
  'limit=x',
  'offset=-1',
  'error_only=maybe',
  'q=%00',
  `q=${'x'.repeat(501)}`,
];
test('pending: an out-of-range parameter is 400 and named', async () => {
  const { app } = await alone();
  for (const query of badQueries) {
    const problem = assertProblem(await inject(app, `/gateways/pending?${query}`), 'invalid_request');
    assert.match(problem.detail, new RegExp(query.split('=')[0] ?? ''));
  }
});

test('delete: returns 200 and a reason for every uid', async (t) => {
  const hub = await hubWithGateway(t);
  await hub.hub.syncRemotes();
  const remove = async (uid: string) => {
    const answer = await hub.app.inject({ method: 'DELETE', url: `/gateways/pending/${uid}` });
    assert.equal(answer.statusCode, 200, answer.body);
    return answer.json();
  };
  const down = uidOf('down');
  assert.deepEqual(await remove(encodeURIComponent(down)), { removed: true, uid: down });
  assert.deepEqual(await remove(down), { removed: false, uid: down, reason: 'not found' });
  assert.deepEqual(await remove(uidOf('good')), { removed: false, uid: uidOf('good'), reason: 'already registered' });
  assert.deepEqual(await remove('tool:tool@1.0.0'), {
    removed: false,
    uid: 'tool:tool@1.0.0',
    reason: 'not an mcp_server',
  });
  assert.deepEqual(await remove('nonsense'), { removed: false, uid: 'nonsense', reason: 'not found' });
  const long = uidOf('x'.repeat(2_000));
  assert.deepEqual(await remove(long), { removed: false, uid: long, reason: 'not found' });
});

test('delete: finds a uid that contains /, encoded or not', async (t) => {
  const { hub, listen } = await testHub(t);
  const address = await listen();
  for (const encode of [encodeURIComponent, (uid: string) => uid]) {
    await hub.load(MANIFESTS.map((document) => ({ document })));
    const uid = uidOf('acme/bare', 'refs/heads/main');
    const answer = await exchange(address, requestText(`DELETE /gateways/pending/${encode(uid)}`));
    assert.deepEqual(JSON.parse(answer.body), { removed: true, uid });
  }
});

test('delete many: removes the named servers and gives a reason for each', async (t) => {
  const hub = await hubWithGateway(t);
  await hub.hub.syncRemotes();
  const removeMany = async (payload: object) => {
    const answer = await hub.app.inject({ method: 'POST', url: '/gateways/pending/delete', payload });
    assert.equal(answer.statusCode, 200, answer.body);
    return BulkRemoval.parse(answer.json());
  };
  await hub.hub.load([{ document: aServer('new', { url: `${H}/new/sse` }) }]);
  const uids = [uidOf('down'), uidOf('down'), uidOf('good'), 'tool:tool@1.0.0', uidOf('none'), uidOf('new'), '\u0000'];
  assert.deepEqual(await removeMany({ uids, all: true, error_only: true }), {
    removed: [uidOf('down')],
    skipped: {
      [uidOf('good')]: 'already registered',
      'tool:tool@1.0.0': 'not an mcp_server',
      [uidOf('none')]: 'not found',
      [uidOf('new')]: 'no gateway_error',
      '\u0000': 'not found',
    },
    total_removed: 1,
  });
  assert.equal((await removeMany({ all: true, error_only: true })).total_removed, 2, 'the stdio and the bare one');
  assert.deepEqual((await removeMany({ uids: [], all: true })).removed, [uidOf('new')]);
  assert.deepEqual(await removeMany({ all: true }), { removed: [], skipped: {}, total_removed: 0 });
});

test('delete many: an empty or invalid request gets 400 and removes nothing', async () => {
  const hub = await alone();
  const odd = [{}, { uids: [] }, { all: false }, { error_only: true }, { uids: 'x' }, { uids: [1] }, { all: 'yes' }];
  for (const payload of odd) {
    const answer = await inject(hub.app, { method: 'POST', url: '/gateways/pending/delete', payload });
    assertProblem(answer, 'invalid_request');
  }
  assert.equal((await pending(hub)).total, 4);
});

test('pending: shows neither the gateway’s secrets nor a registration’s', async (t) => {
  const { app, hub, gateway, world } = await hubWithGateway(t);
  await hub.load([
    { document: aServer('private', { url: `${H}/private/sse`, auth_type: 'bearer', auth_token: 'hunter2-token' }) },
  ]);
  gateway.onCall(({ method, path, headers, body }) => {
    const detail = `${headers.authorization} ${JSON.stringify(body)}`;
    if (method === 'POST') gateway.surprise(`${method} ${path}`, { status: 400, body: { detail } });
  });
  const report = await app.inject({ method: 'POST', url: '/remotes/sync' });
  const list = await app.inject('/gateways/pending');
  assert.doesNotMatch(`${report.body}${list.body}${JSON.stringify(world.logged)}`, /hunter2|eyJ|gateway-secret/);
});
