import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { aManifest } from '../support/builders.ts';
import { testHub } from '../support/hub.ts';
import { shared } from '../support/shared.ts';
import { until } from '../support/until.ts';
import { assertProblem, inject } from './wire.ts';

const manifests = Array.from({ length: 5 }, (_, index) => aManifest({ id: `e${index}` }));
const sharedHub = shared((t) => testHub(t, { manifests }));
const PREFLIGHT = { origin: 'https://other.example', 'access-control-request-method': 'GET' };

test('CORS: other sites may read public routes', async () => {
  const { app } = await sharedHub();
  for (const url of ['/catalog', '/health', '/config', '/catalog/entities/tool:unknown', '/openapi.json']) {
    const { headers } = await inject(app, { url, headers: { origin: 'https://other.example' } });
    assert.equal(headers['access-control-allow-origin'], '*', url);
    assert.equal(headers['access-control-allow-credentials'], undefined);
    assert.match(headers['access-control-expose-headers'] ?? '', /ETag.*X-Request-Id.*Retry-After/);

    const asking = { ...PREFLIGHT, 'access-control-request-headers': 'if-none-match' };
    const preflight = await inject(app, { method: 'OPTIONS', url, headers: asking });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers['access-control-allow-origin'], '*');
    assert.equal(preflight.headers['access-control-allow-methods'], 'GET, HEAD');
    assert.match(preflight.headers['access-control-allow-headers'] ?? '', /If-None-Match/);
    assert.equal(preflight.headers['access-control-max-age'], '86400');
  }
});

test('CORS: other sites may not use protected routes', async (t) => {
  const { app } = await testHub(t);
  app.get('/admin-read', { config: { operation: 'listAudit' } }, async () => ({}));
  app.post('/admin-write', { config: { operation: 'listAudit' } }, async () => ({}));
  for (const request of [
    { url: '/metrics', headers: PREFLIGHT },
    { url: '/admin-read', headers: PREFLIGHT },
    { method: 'POST' as const, url: '/admin-write', headers: PREFLIGHT },
    { method: 'OPTIONS' as const, url: '/metrics', headers: PREFLIGHT },
    { method: 'OPTIONS' as const, url: '/admin-read', headers: PREFLIGHT },
    { method: 'POST' as const, url: '/catalog', headers: PREFLIGHT },
  ]) {
    const { headers } = await inject(app, request);
    const granted = Object.keys(headers).filter((name) => name.startsWith('access-control-'));
    assert.deepEqual(granted, [], request.url);
  }
});

test('security headers: present on every response, including errors', async () => {
  const { app } = await sharedHub();
  const expected = {
    'content-security-policy': "default-src 'none';frame-ancestors 'none';base-uri 'none';form-action 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'origin-agent-cluster': '?1',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-dns-prefetch-control': 'off',
    'x-download-options': 'noopen',
    'x-frame-options': 'DENY',
    'x-permitted-cross-domain-policies': 'none',
    'x-xss-protection': '0',
    // Only for HTTPS.
    'strict-transport-security': undefined,
    'x-powered-by': undefined,
    server: undefined,
  };
  const known = { 'if-none-match': '*' };
  for (const { url, ...request } of [
    ...['/health', '/catalog', '/nowhere', '/catalog?limit=0', '/metrics'].map((url) => ({ url })),
    { url: '/catalog/search', headers: known },
    { url: '/catalog', method: 'OPTIONS' as const },
    { url: '/catalog', method: 'PUT' as const },
    { url: '/mcp', method: 'POST' as const, payload: '{}', headers: { 'content-type': 'application/json' } },
    { url: '/catalog/sync', method: 'POST' as const, headers: { accept: 'text/event-stream' } },
  ]) {
    const { headers } = await inject(app, { url, ...request });
    for (const [name, value] of Object.entries(expected)) assert.equal(headers[name], value, `${name} of ${url}`);
  }
});

test('compression: applies above 1 kB, with the client’s preferred encoding', async () => {
  const { app } = await sharedHub();
  const plain = await app.inject('/catalog');
  assert.equal(plain.headers['content-encoding'], undefined);
  for (const { accept, encoding, decode } of [
    { accept: 'gzip', encoding: 'gzip', decode: gunzipSync },
    { accept: 'br', encoding: 'br', decode: brotliDecompressSync },
    { accept: 'gzip, deflate, br', encoding: 'br', decode: brotliDecompressSync },
  ]) {
    const answer = await app.inject({ url: '/catalog', headers: { 'accept-encoding': accept } });
    assert.equal(answer.headers['content-encoding'], encoding);
    assert.match(String(answer.headers.vary), /accept-encoding/i);
    assert.ok(answer.rawPayload.length < plain.rawPayload.length / 2);
    assert.equal(decode(answer.rawPayload).toString(), plain.body);
  }
  for (const accept of ['identity', 'deflate', 'nonsense']) {
    const answer = await app.inject({ url: '/catalog', headers: { 'accept-encoding': accept } });
    assert.equal(answer.headers['content-encoding'], undefined, accept);
  }
  const small = await app.inject({ url: '/health', headers: { 'accept-encoding': 'br' } });
  assert.equal(small.headers['content-encoding'], undefined);
});

test('rate limit: counts all public reads of an address together', async (t) => {
  const { app } = await testHub(t, { settings: { RATE_LIMIT_PER_MINUTE: '3', TRUST_PROXY: 'true' } });
  app.post('/write', { config: { operation: 'listAudit' } }, async () => ({}));
  const from = (address: string) => ({ 'x-forwarded-for': address });
  for (const url of ['/remotes', '/config', '/catalog']) {
    assert.equal((await inject(app, { url, headers: from('192.0.2.1') })).status, 200);
  }
  const refused = await inject(app, { url: '/openapi.json', headers: from('192.0.2.1') });
  assertProblem(refused, 'rate_limited');
  assert.ok(Number(refused.headers['retry-after']) <= 60);
  assert.equal(refused.headers['access-control-allow-origin'], '*', 'a page can read why it was refused');

  assert.equal((await inject(app, { url: '/catalog', headers: from('192.0.2.2') })).status, 200, 'another address');
  const admin = await inject(app, { method: 'POST', url: '/write', headers: from('192.0.2.1') });
  assert.equal(admin.status, 200, 'not a public read');
  assert.equal((await inject(app, { url: '/metrics', headers: from('192.0.2.1') })).status, 200, 'not a public read');
});

test('rate limit: ignores X-Forwarded-For without a trusted proxy', async (t) => {
  const { app } = await testHub(t, { settings: { RATE_LIMIT_PER_MINUTE: '2' } });
  const statuses = [];
  for (const n of [1, 2, 3]) {
    const headers = { 'x-forwarded-for': `192.0.2.${n}` };
    statuses.push((await inject(app, { url: '/config', headers })).status);
  }
  assert.deepEqual(statuses, [200, 200, 429]);
  assert.equal((await inject(app, '/health')).status, 200, 'monitoring must see that the hub is alive');
});

test('rate limit: off unless it is set', async () => {
  const { app } = await sharedHub();
  const answers = await Promise.all(Array.from({ length: 300 }, () => inject(app, '/config')));
  assert.ok(answers.every(({ status, headers }) => status === 200 && headers['x-ratelimit-limit'] === undefined));
});

test('overload: an overloaded hub answers 503, stays alive on /health, and recovers', async (t) => {
  const { app, world } = await testHub(t, { manifests: [aManifest()], canBeOverloaded: true });
  const ask = () => inject(app, { url: '/catalog', headers: { origin: 'https://other.example' } });
  const answers = [];
  for (let turns = 20; turns > 0 && answers.at(-1)?.status !== 503; turns -= 1) {
    keepBusy(1200);
    await nextTurn();
    await sleep(1);
    if (app.isUnderPressure()) answers.push(await ask());
  }
  assert.equal(answers[0]?.status, 200, 'one slow moment is not an overload');
  const refused = answers.at(-1) ?? assert.fail('it was never overloaded');
  assertProblem(refused, 'overloaded');
  assert.equal(refused.headers['access-control-allow-origin'], '*', 'a page can read why it was refused');
  assert.equal((await inject(app, '/health')).status, 200);
  assert.equal((await inject(app, '/health?check_db=true')).status, 200);

  await until(() => !app.isUnderPressure());
  assert.equal((await inject(app, '/catalog')).status, 200);
  assert.deepEqual(
    world.logged.filter(({ level }) => level === 'error'),
    [],
  );
});

test('closing: answers what arrives on an open connection, then closes it', async (t) => {
  const { app, listen } = await testHub(t);
  const asked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  app.get('/slow', { config: { isOpen: true } }, async () => {
    asked.resolve();
    await release.promise;
    return { done: true };
  });
  const address = await listen();
  const slow = fetch(`${address}/slow`);
  await asked.promise;
  const closed = app.close();
  await sleep(50);
  release.resolve();
  const answer = await slow;
  assert.equal(answer.status, 200);
  assert.deepEqual(await answer.json(), { done: true });
  await assert.rejects(fetch(`${address}/health`), 'no new connections');
  app.server.closeIdleConnections();
  await closed;
});

/** Blocks the event loop, as a long computation would. */
function keepBusy(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
