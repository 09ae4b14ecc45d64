// Tokens, through HTTP on both databases.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { TokenCreated } from '../../src/access/contract.ts';
import { assertProblem, inject } from '../http/wire.ts';
import { aManifest } from '../support/builders.ts';
import { testOnEveryEngine } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';

const API_TOKEN = 'the-admin-token';
const settings = { API_TOKEN };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const manifests = ['com.acme/wiki', 'org.other/wiki'].map((id) => aManifest({ type: 'tool', id, version: '1.0.0' }));

testOnEveryEngine('tokens: one is created, used, listed without its secret, and revoked', async (t, database) => {
  const { app, world } = await testHub(t, { settings, database });
  const admin = { headers: bearer(API_TOKEN) };
  const body = { name: 'build-server', role: 'operator', expires_in_days: 30 };
  const made = await inject(app, { method: 'POST', url: '/tokens', ...admin, payload: body });
  assert.equal(made.status, 201);
  const { token, expires_at } = JSON.parse(made.body) as TokenCreated;
  assert.equal(expires_at, new Date(world.now().getTime() + 30 * 86_400_000).toISOString());
  const twice = await inject(app, { method: 'POST', url: '/tokens', ...admin, payload: body });
  assertProblem(twice, 'name_taken');
  assert.equal((await inject(app, { url: '/gateways/pending', headers: bearer(token) })).status, 200);
  assertProblem(await inject(app, { url: '/tokens', headers: bearer(token) }), 'forbidden');

  const listed = await inject(app, { url: '/tokens', ...admin });
  assert.deepEqual(
    JSON.parse(listed.body).items.map(({ name, role, created_by }: TokenCreated) => [name, role, created_by]),
    [['build-server', 'operator', 'API_TOKEN']],
  );
  assert.ok(!listed.body.includes(token));

  const revoke = { method: 'DELETE', url: '/tokens/build-server', ...admin } as const;
  assert.equal((await inject(app, revoke)).status, 200);
  for (const url of ['/gateways/pending', '/whoami'])
    assertProblem(await inject(app, { url, headers: bearer(token) }), 'unauthorized');
  assert.equal((await inject(app, { method: 'POST', url: '/mcp', headers: bearer(token), payload: {} })).status, 401);
  assert.equal((await inject(app, { url: '/catalog', headers: bearer(token) })).status, 200, 'open reads stay open');
  assertProblem(await inject(app, revoke), 'token_not_found');
});

test('tokens: an expired one is refused', async (t) => {
  const { app, hub, world } = await testHub(t, { settings });
  const { token } = await hub.createToken({ name: 'a', role: 'operator', scope: [], expires_in_days: 1 });
  const ask = async () => (await inject(app, { url: '/gateways/pending', headers: bearer(token) })).status;
  assert.equal(await ask(), 200);
  world.setTime('2026-06-02T12:00:00.000Z');
  assert.equal(await ask(), 401);
  assert.deepEqual(
    (await hub.listTokens()).items.map(({ expired }) => expired),
    [true],
  );
});

test('tokens: invalid ones are refused with a reason, and none is created where tokens have no effect', async (t) => {
  const { app } = await testHub(t, { settings });
  const headers = bearer(API_TOKEN);
  const bad = [
    { role: 'reader' },
    { name: 'a', role: 'king' },
    { name: 'a b', role: 'reader' },
    { name: 'a', role: 'reader', expires_in_days: 0 },
    { name: 'API_token', role: 'reader' },
    { name: 'a', role: 'reader', scope: ['x y'] },
    { name: 'a', role: 'reader', scope: 'x' },
  ];
  for (const payload of bad) {
    const answer = await inject(app, { method: 'POST', url: '/tokens', headers, payload });
    assertProblem(answer, 'invalid_request');
  }
  const open = await testHub(t);
  const payload = { name: 'a', role: 'reader' };
  const problem = assertProblem(await inject(open.app, { method: 'POST', url: '/tokens', payload }), 'invalid_request');
  assert.match(problem.detail, /Set one of them first/);
});

testOnEveryEngine('tokens: a scope limits what may be changed', async (t, database) => {
  const { app, hub } = await testHub(t, { settings, manifests, database });
  const { token } = await hub.createToken({ name: 'acme', role: 'operator', scope: ['com.acme/*'] });
  const block = (id: string) =>
    inject(app, {
      method: 'PATCH',
      url: `/catalog/entities/${encodeURIComponent(id)}`,
      headers: bearer(token),
      payload: { blocked: true },
    });
  assert.equal((await block('tool:com.acme/wiki@1.0.0')).status, 200);
  const problem = assertProblem(await block('tool:org.other/wiki@1.0.0'), 'forbidden');
  assert.match(problem.detail, /in its scope: com\.acme\/\*/);
  const install = (payload: object) =>
    inject(app, { method: 'POST', url: '/catalog/install', headers: bearer(token), payload });
  const elsewhere = { id: 'tool:org.other/wiki', version: '1.0.0', target: 'x' };
  assertProblem(await install(elsewhere), 'forbidden');
  const sync = await inject(app, { method: 'POST', url: '/remotes/sync', headers: bearer(token) });
  assertProblem(sync, 'forbidden');
  const { items } = await hub.listAudit({ limit: 10, outcome: 'refused' });
  assert.deepEqual(
    items.map(({ caller, operation, subject, result }) => [caller, operation, subject, result]),
    [
      ['acme', 'syncRemotes', 'all remotes', 'forbidden'],
      ['acme', 'install', 'tool:org.other/wiki into x', 'forbidden'],
      ['acme', 'blockEntity', 'tool:org.other/wiki@1.0.0', 'forbidden'],
    ],
  );
});

test('tokens: an installer cannot add manifests to the catalog', async (t) => {
  const { app, hub } = await testHub(t, { settings, manifests });
  const { token } = await hub.createToken({ name: 'ci', role: 'installer', scope: [] });
  const [manifest] = manifests;
  const payload = { id: 'tool:com.acme/wiki@1.0.0', target: 'x', manifest: { ...manifest, summary: 'replaced' } };
  const answer = await inject(app, { method: 'POST', url: '/catalog/install', headers: bearer(token), payload });
  assertProblem(answer, 'forbidden');
  assert.notEqual((await hub.getEntity('tool:com.acme/wiki@1.0.0')).summary, 'replaced');
});

test('wrong tokens: an address that sends many is limited; tokens that it used before still work', async (t) => {
  const { ask, app } = await hubWithToken(t);
  assert.equal((await ask(API_TOKEN)).status, 200);
  for (let count = 0; count < 20; count += 1) assertProblem(await ask(`guess-${count}`), 'unauthorized');
  assertProblem(await ask('guess-20'), 'rate_limited');
  assertProblem(await ask('guess-3'), 'unauthorized');
  assert.equal((await ask(API_TOKEN)).status, 200);
  assert.equal((await inject(app, { url: '/catalog' })).status, 200, 'reads without a token go on');
});

test('wrong tokens: a short API_TOKEN is refused after many guesses from an address', async (t) => {
  const { ask, guessMany } = await hubWithToken(t, { TRUST_PROXY: '1' });
  assert.equal((await ask(API_TOKEN, '192.0.2.1')).status, 200);
  await guessMany('192.0.2.2');
  assertProblem(await ask(API_TOKEN, '192.0.2.2'), 'rate_limited');
});

test('wrong tokens: unguessable tokens are never refused because of others’ guesses', async (t) => {
  const long = 'an-api-token-of-some-length';
  const { ask, guessMany, hub } = await hubWithToken(t, { API_TOKEN: long });
  const { token } = await hub.createToken({ name: 'ci', role: 'operator', scope: [] });
  await guessMany();
  assertProblem(await ask('guess'), 'rate_limited');
  for (const right of [long, token]) assert.equal((await ask(right)).status, 200);
});

test('wrong tokens: those for METRICS_TOKEN count as well', async (t) => {
  const { app, ask } = await hubWithToken(t, { METRICS_TOKEN: 'scrape' });
  const scrape = (token?: string) => inject(app, { url: '/metrics', ...(token && { headers: bearer(token) }) });
  for (let count = 0; count < 20; count += 1) assertProblem(await scrape(`guess-${count}`), 'unauthorized');
  for (const token of ['guess-20', 'scrape']) assertProblem(await scrape(token), 'rate_limited');
  assertProblem(await scrape(), 'unauthorized');
  assertProblem(await ask('guess-20'), 'rate_limited');
});

test('wrong tokens: callers cannot choose the counted address', async (t) => {
  for (const [proxies, added] of [
    ['true', ''],
    ['2', ', 10.0.0.1'],
  ]) {
    const { ask } = await hubWithToken(t, { TRUST_PROXY: String(proxies) });
    const guess = (count: number, address: string) => ask(`guess-${count}`, `198.51.100.${count}, ${address}${added}`);
    for (let count = 0; count < 20; count += 1) assertProblem(await guess(count, '192.0.2.1'), 'unauthorized');
    assertProblem(await guess(20, '192.0.2.1'), 'rate_limited');
    assertProblem(await guess(20, '192.0.2.2'), 'unauthorized');
  }
});

test('wrong tokens: the addresses of an IPv6 /64, and both forms of an IPv4 address, count as one', async (t) => {
  const { ask } = await hubWithToken(t, { TRUST_PROXY: '1' });
  for (const { from, same, other } of [
    {
      from: (count: number) => `2001:db8:0:1::${count}`,
      same: '2001:DB8:0:1:ffff:ffff:ffff:ffff',
      other: '2001:db8:0:2::1',
    },
    { from: () => '::ffff:192.0.2.7', same: '192.0.2.7', other: '::ffff:192.0.2.8' },
    { from: () => 'unknown', same: 'unknown', other: 'hidden' },
  ]) {
    for (let count = 0; count < 20; count += 1) assertProblem(await ask(`guess-${count}`, from(count)), 'unauthorized');
    assertProblem(await ask('guess', same), 'rate_limited');
    assertProblem(await ask('guess', other), 'unauthorized');
  }
});

async function hubWithToken(t: TestContext, more: Record<string, string> = {}) {
  const { app, hub } = await testHub(t, { settings: { ...settings, ...more } });
  const ask = (token: string, forwarded?: string) =>
    inject(app, {
      url: '/gateways/pending',
      headers: { ...bearer(token), ...(forwarded && { 'x-forwarded-for': forwarded }) },
    });
  async function guessMany(forwarded?: string): Promise<void> {
    for (let count = 0; count < 20; count += 1) assertProblem(await ask(`guess-${count}`, forwarded), 'unauthorized');
  }
  return { app, hub, ask, guessMany };
}
