import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InjectOptions } from 'fastify';
import type { Ending } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';
import { startIndexServer } from '../support/servers/index-server.ts';
import { shared } from '../support/shared.ts';
import { assertProblem, inject } from './wire.ts';

const ADMIN_TOKEN = 'admin-token-of-the-test';
const METRICS_TOKEN = 'metrics-token-of-the-test';

const sharedHub = shared((t) => protectedHub(t, { API_TOKEN: ADMIN_TOKEN, METRICS_TOKEN }));
const readersHub = shared((t) => protectedHub(t, { API_TOKEN: ADMIN_TOKEN, READ_ACCESS: 'token' }));

const refused: { name: string; headers?: Record<string, string>; query?: string }[] = [
  { name: 'no header' },
  { name: 'an empty header', headers: { authorization: '' } },
  { name: 'a wrong token', headers: { authorization: 'Bearer nonsense' } },
  { name: 'the beginning of the token', headers: { authorization: `Bearer ${ADMIN_TOKEN.slice(0, -1)}` } },
  { name: 'the token and more', headers: { authorization: `Bearer ${ADMIN_TOKEN}x` } },
  { name: 'two tokens', headers: { authorization: `Bearer ${ADMIN_TOKEN} ${ADMIN_TOKEN}` } },
  { name: 'the metrics token', headers: { authorization: `Bearer ${METRICS_TOKEN}` } },
  { name: 'the token without a scheme', headers: { authorization: ADMIN_TOKEN } },
  { name: 'a scheme without a token', headers: { authorization: 'Bearer' } },
  {
    name: 'another scheme',
    headers: { authorization: `Basic ${Buffer.from(`x:${ADMIN_TOKEN}`).toString('base64')}` },
  },
  { name: 'another header', headers: { 'x-api-key': ADMIN_TOKEN, cookie: `token=${ADMIN_TOKEN}` } },
  { name: 'the query string', query: `?token=${ADMIN_TOKEN}&access_token=${ADMIN_TOKEN}` },
];
test('admin: only the token in its header grants access', async (t) => {
  const { send, entered } = await sharedHub();
  const before = entered();
  for (const { name, headers = {}, query = '' } of refused) {
    await t.test(name, async () => {
      assertProblem(await send({ method: 'POST', url: `/protected${query}`, headers }), 'unauthorized');
      assert.equal(entered(), before);
    });
  }
});

test('admin: accepts the token whatever the case of its scheme', async () => {
  const { send, entered } = await sharedHub();
  const before = entered();
  for (const authorization of [`Bearer ${ADMIN_TOKEN}`, `bearer   ${ADMIN_TOKEN} `, `BEARER ${ADMIN_TOKEN}`]) {
    assert.equal((await send({ method: 'POST', url: '/protected', headers: { authorization } })).status, 200);
  }
  assert.equal(entered() - before, 3);
});

test('admin: checks the token before it reads the body', async () => {
  const { send } = await sharedHub();
  const malformed = { method: 'POST', url: '/protected', payload: '{"a":' } as const;
  const asJson = { 'content-type': 'application/json' };
  assertProblem(await send({ ...malformed, headers: asJson }), 'unauthorized');
  assertProblem(await send({ ...malformed, headers: { 'content-type': 'text/plain' } }), 'unauthorized');
  const authorization = `Bearer ${ADMIN_TOKEN}`;
  assertProblem(await send({ ...malformed, headers: { ...asJson, authorization } }), 'invalid_json');
});

test('admin: neither the response nor the log contains the token', async () => {
  const { send, logged } = await sharedHub();
  const { body } = await send({
    method: 'POST',
    url: `/protected?token=${ADMIN_TOKEN}`,
    headers: { authorization: `Basic ${ADMIN_TOKEN}` },
  });
  assert.doesNotMatch(body, new RegExp(ADMIN_TOKEN));
  assert.doesNotMatch(JSON.stringify(logged), new RegExp(ADMIN_TOKEN));
});

test('admin: without API_TOKEN the routes are open', async (t) => {
  const { send } = await protectedHub(t, {});
  assert.equal((await send({ method: 'POST', url: '/protected' })).status, 200);
});

test('metrics: require METRICS_TOKEN when it is set, regardless of API_TOKEN', async () => {
  const { send } = await sharedHub();
  assertProblem(await send({ url: '/metrics' }), 'unauthorized');
  assert.equal((await send({ method: 'HEAD', url: '/metrics' })).status, 401);
  assertProblem(await send({ url: '/metrics', headers: { authorization: `Bearer ${ADMIN_TOKEN}` } }), 'unauthorized');
  const answer = await send({ url: '/metrics', headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
  assert.equal(answer.status, 200);
});

test('public reads need no token and ignore a wrong one', async () => {
  const { send } = await sharedHub();
  for (const url of ['/health', '/config', '/catalog', '/openapi.json', '/docs']) {
    assert.equal((await send({ url, headers: { authorization: 'Bearer nonsense' } })).status, 200, url);
  }
});

test('READ_ACCESS=token: metrics need a token, and the page does not request what is refused', async (t) => {
  const { send } = await readersHub();
  assertProblem(await send({ url: '/metrics' }), 'unauthorized');
  assert.equal((await send({ url: '/metrics', headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })).status, 200);
  const home = await send({ url: '/' });
  assert.deepEqual([home.status, home.headers.link], [200, '</.well-known/ard.json>; rel=ard']);

  const scraped = await protectedHub(t, { API_TOKEN: ADMIN_TOKEN, READ_ACCESS: 'token', METRICS_TOKEN });
  const authorization = `Bearer ${METRICS_TOKEN}`;
  assert.equal((await scraped.send({ url: '/metrics', headers: { authorization } })).status, 200);
});

test('READ_ACCESS=token: a refusal names the role that the route needs', async () => {
  const { send } = await readersHub();
  for (const [method, url, role] of [
    ['GET', '/catalog', 'reader'],
    ['POST', '/protected', 'admin'],
  ] as const) {
    const { detail } = assertProblem(await send({ method, url }), 'unauthorized');
    assert.match(detail, new RegExp(`with the role ${role} or higher\\.$`));
  }
});

test('mcp: checks the token before the body', async () => {
  const { send } = await readersHub();
  const malformed = { method: 'POST', url: '/mcp', payload: '{"a":' } as const;
  const asJson = { 'content-type': 'application/json' };
  for (const headers of [asJson, { ...asJson, authorization: 'Bearer nonsense' }])
    assert.equal((await send({ ...malformed, headers })).status, 401);
  const known = await send({ ...malformed, headers: { ...asJson, authorization: `Bearer ${ADMIN_TOKEN}` } });
  assert.equal(known.status, 400);
});

test('routes: the hub does not start with a route that declares no access rule', async (t) => {
  const { app } = await testHub(t);
  assert.throws(() => app.get('/forgotten', async () => 'secrets'), /GET \/forgotten says neither which operation/);
});

async function protectedHub(t: Ending, settings: Record<string, string>) {
  const { app, world } = await testHub(t, { settings });
  let count = 0;
  app.post('/protected', { config: { operation: 'listAudit' } }, async () => {
    count += 1;
    return { done: true };
  });
  return {
    send: (request: InjectOptions) => inject(app, request),
    entered: () => count,
    logged: world.logged,
  };
}

const READS = ['/remotes', '/catalog/remotes', '/ingest/status'];

test('remotes: secrets in addresses are shown with a token and masked without', async (t) => {
  const { app, hub } = await testHub(t, { settings: { API_TOKEN: ADMIN_TOKEN } });
  const host = await startIndexServer(t);
  const address = host.url('/index.json?page=1&private_token=s3cretvalue');
  await hub.addRemote(address);
  await hub.ingest();
  const read = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });
  for (const url of READS) {
    const strangers: Record<string, string>[] = [
      {},
      { authorization: 'Bearer wrong' },
      { authorization: 'Basic dTpw' },
    ];
    for (const headers of strangers) {
      const { statusCode, body } = await read(url, headers);
      assert.equal(statusCode, 200, url);
      assert.match(body, /index\.json\?page=1&private_token=\*\*\*/, url);
      assert.doesNotMatch(body, /s3cretvalue/, url);
    }
    const { body } = await read(url, { authorization: `Bearer ${ADMIN_TOKEN}` });
    assert.ok(body.includes(address), url);
  }
});

test('remotes: a hub without a token shows addresses in full', async (t) => {
  const { app, hub } = await testHub(t);
  await hub.addRemote('https://catalog.example.org/index.json?token=s3cretvalue');
  assert.match((await app.inject('/remotes')).body, /token=s3cretvalue/);
});
