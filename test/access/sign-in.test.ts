// Sign-ins with tokens of an issuer, through HTTP.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { InjectOptions } from 'fastify';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { assertProblem, inject } from '../http/wire.ts';
import { testHub } from '../support/hub.ts';
import { startIssuer, type TestIssuer } from './issuer.ts';

test('sign-in: the claim decides the role, and the audit log names the person', async (t) => {
  const { issuer, ask } = await hubWithIssuer(t);
  const admin = await issuer.sign({ groups: ['staff', 'hub-admins'], email: 'ada@example.org' });
  assert.equal((await ask('/audit', admin)).status, 200);
  const developer = await issuer.sign({ groups: ['developers'] });
  assertProblem(await ask('/audit', developer), 'forbidden');
  assertProblem(await ask('/gateways/pending', developer), 'forbidden');
  const unmapped = await issuer.sign({ groups: ['admin', 'operator'] });
  assertProblem(await ask('/audit', unmapped), 'forbidden');
  const stranger = await issuer.sign({ groups: ['guests'] });
  const refusal = assertProblem(await ask('/audit', stranger), 'forbidden');
  assert.match(refusal.detail, /has no role of this hub in its claim 'groups'/);
});

test('sign-in: a person cannot impersonate a token, whatever the name', async (t) => {
  const { issuer, ask, hub } = await hubWithIssuer(t, { API_TOKEN: 'a-token' });
  const claims = { groups: ['hub-admins'], sub: '17', email: 'ada@example.org', preferred_username: 'API_TOKEN' };
  const token = await issuer.sign({ ...claims, email_verified: false });
  const payload = { name: 'ci', role: 'reader' };
  assert.equal((await ask('/tokens', token, { method: 'POST', payload })).status, 201);
  const [entry] = (await hub.listAudit({ limit: 1 })).items;
  assert.deepEqual([entry?.caller, entry?.caller_kind, entry?.caller_id], ['API_TOKEN', 'sign-in', '17']);
  assert.equal((await hub.listTokens()).items[0]?.created_by, 'API_TOKEN (signed in)');
  const webhook = { name: 'chat', url: 'https://receiver.example.org' };
  assert.equal((await ask('/webhooks', token, { method: 'POST', payload: webhook })).status, 201);
  assert.equal((await hub.listWebhooks()).items[0]?.created_by, 'API_TOKEN (signed in)');
  const asText = await issuer.sign({ ...claims, email_verified: 'false' });
  assert.equal(JSON.parse((await ask('/whoami', asText)).body).name, 'API_TOKEN');
  const known = await issuer.sign({ ...claims, email_verified: true });
  assert.deepEqual(JSON.parse((await ask('/whoami', known)).body), {
    ...{ name: 'ada@example.org', kind: 'sign-in', role: 'admin', scope: [] },
  });
});

test('sign-in: tokens that are forged, expired, early, for others or unsigned are refused', async (t) => {
  const { issuer, ask } = await hubWithIssuer(t);
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer.url, aud: 'hub', sub: 'a', exp: now + 300, groups: ['hub-admins'] };
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const forged = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'first' }).sign(privateKey);
  const jwk = await exportJWK(publicKey);
  const ownKey = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', jwk }).sign(privateKey);
  const secret = new TextEncoder().encode('a secret that everybody can guess, and that is long enough');
  const bad: Record<string, string | Promise<string>> = {
    'signed with another key': forged,
    'with its own key attached': ownKey,
    'with a shared secret': new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(secret),
    'alg none': new UnsecuredJWT(claims).encode(),
    expired: issuer.sign({ ...claims, exp: now - 3600 }),
    'not yet valid': issuer.sign({ ...claims, nbf: now + 3600 }),
    'for another audience': issuer.sign({ ...claims, aud: 'another' }),
    'of another issuer': issuer.sign({ ...claims, iss: 'https://evil.example' }),
    'without an expiry': issuer.sign({ ...claims, exp: undefined }),
    'not a token': 'a.b.c',
  };
  for (const [name, token] of Object.entries(bad)) {
    await t.test(name, async () => void assertProblem(await ask('/audit', await token), 'unauthorized'));
  }
  assert.equal((await ask('/audit', await issuer.sign(claims))).status, 200);
});

test('sign-in: a failing issuer is a temporary error, and is not asked again at once', async (t) => {
  const { issuer, ask, world } = await hubWithIssuer(t, { API_TOKEN: 'a-token' });
  const token = await issuer.sign({ groups: ['hub-admins'] });
  let asked = 0;
  for (const [minute, fault] of (['configuration', 'keys', 'broken keys'] as const).entries()) {
    world.setTime(`2026-06-01T12:0${minute}:00.000Z`);
    issuer.fail(fault);
    const problem = assertProblem(await ask('/audit', token), 'issuer_unavailable');
    assert.match(problem.detail, /Try again/);
    assert.ok(issuer.requests() > asked, fault);
    asked = issuer.requests();
    assertProblem(await ask('/audit', token), 'issuer_unavailable');
    assert.equal(issuer.requests(), asked, 'its keys were fetched a moment ago');
  }
  assertProblem(await ask('/audit', 'a.wrong.one'), 'unauthorized');
  assert.equal((await ask('/audit', 'a-token')).status, 200);
  issuer.fail('nothing');
  world.setTime('2026-06-01T12:09:00.000Z');
  assert.equal((await ask('/audit', token)).status, 200);
});

test('sign-in: new keys of the issuer are found, and old ones are refused', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-06-01T12:00:00Z') });
  const { issuer, ask } = await hubWithIssuer(t);
  const old = await issuer.sign({ groups: ['hub-admins'], exp: Date.parse('2026-06-02') / 1000 });
  assert.equal((await ask('/audit', old)).status, 200);
  await issuer.rotate();
  const fresh = await issuer.sign({ groups: ['hub-admins'], exp: Date.parse('2026-06-02') / 1000 });
  t.mock.timers.setTime(Date.parse('2026-06-01T12:01:00Z'));
  assert.equal((await ask('/audit', fresh)).status, 200);
  assertProblem(await ask('/audit', old), 'unauthorized');
});

test('sign-in: outdated and forged tokens do not block others at the same address', async (t) => {
  const { issuer, ask } = await hubWithIssuer(t);
  const claims = { groups: ['hub-admins'] };
  const { privateKey } = await generateKeyPair('ES256');
  const forged = (jti: string) =>
    new SignJWT({ ...claims, iss: issuer.url, aud: 'hub', jti })
      .setProtectedHeader({ alg: 'ES256', kid: 'unknown' })
      .sign(privateKey);
  for (let count = 0; count < 20; count += 1) {
    assertProblem(await ask('/audit', await issuer.sign({ ...claims, exp: 1000 + count })), 'unauthorized');
    assertProblem(await ask('/audit', await forged(String(count))), 'unauthorized');
  }
  assertProblem(await ask('/audit', 'a-guess'), 'unauthorized');
  for (let count = 0; count < 20; count += 1) await ask('/audit', `another.guess.${count}`);
  assertProblem(await ask('/audit', 'a.guess.more'), 'rate_limited');
  assert.equal((await ask('/audit', await issuer.sign(claims))).status, 200);
});

async function hubWithIssuer(t: TestContext, settings: Record<string, string> = {}) {
  const issuer: TestIssuer = await startIssuer(t);
  const { app, hub, world } = await testHub(t, {
    settings: {
      OIDC_ISSUER: issuer.url,
      OIDC_AUDIENCE: 'hub',
      OIDC_ROLE_CLAIM: 'groups',
      OIDC_ROLES: 'hub-admins=admin,developers=installer',
      ...settings,
    },
  });
  const ask = (url: string, token: string, request: InjectOptions = {}) =>
    inject(app, { url, headers: { authorization: `Bearer ${token}` }, ...request });
  return { issuer, ask, hub, world };
}
