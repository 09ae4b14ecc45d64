// Sign-ins with tokens of an issuer, through HTTP.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { assertProblem, inject } from '../http/wire.ts';
import { testHub } from '../support/hub.ts';
import { startIssuer, type TestIssuer } from './issuer.ts';

test('sign-in: the claim decides about the role, and the audit log names the person', async (t) => {
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
  assert.match(refusal.detail, /names no role of this hub in its claim 'groups'/);
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
    'with its own key beside it': ownKey,
    'with a shared secret': new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(secret),
    'alg none': new UnsecuredJWT(claims).encode(),
    expired: issuer.sign({ ...claims, exp: now - 3600 }),
    'not yet valid': issuer.sign({ ...claims, nbf: now + 3600 }),
    'for another audience': issuer.sign({ ...claims, aud: 'another' }),
    'of another issuer': issuer.sign({ ...claims, iss: 'https://evil.example' }),
    'without an end': issuer.sign({ ...claims, exp: undefined }),
    'not a token': 'a.b.c',
  };
  for (const [name, token] of Object.entries(bad)) {
    await t.test(name, async () => void assertProblem(await ask('/audit', await token), 'unauthorized'));
  }
  assert.equal((await ask('/audit', await issuer.sign(claims))).status, 200);
});

test('sign-in: an issuer that does not answer is an error to try again, and API_TOKEN works meanwhile', async (t) => {
  const { issuer, ask } = await hubWithIssuer(t, { API_TOKEN: 'a-token' });
  const token = await issuer.sign({ groups: ['hub-admins'] });
  issuer.fail('keys');
  assertProblem(await ask('/audit', token), 'overloaded');
  issuer.fail();
  assertProblem(await ask('/audit', token), 'overloaded');
  assertProblem(await ask('/audit', 'a.wrong.one'), 'unauthorized');
  assert.equal((await ask('/audit', 'a-token')).status, 200);
});

async function hubWithIssuer(t: TestContext, settings: Record<string, string> = {}) {
  const issuer: TestIssuer = await startIssuer(t);
  const { app } = await testHub(t, {
    settings: {
      OIDC_ISSUER: issuer.url,
      OIDC_AUDIENCE: 'hub',
      OIDC_ROLE_CLAIM: 'groups',
      OIDC_ROLES: 'hub-admins=admin,developers=installer',
      ...settings,
    },
  });
  const ask = (url: string, token: string) => inject(app, { url, headers: { authorization: `Bearer ${token}` } });
  return { issuer, ask };
}
