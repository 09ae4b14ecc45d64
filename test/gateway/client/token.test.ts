import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { createTokenSource, type TokenSettings } from '../../../src/gateway/client/token.ts';

const SETTINGS: TokenSettings = { jwtSecret: 'secret', subject: 'ops@hub.example', issuer: 'iss', audience: 'aud' };

function aSource(changes: Partial<TokenSettings> = {}) {
  const clock = { time: Date.parse('2026-06-01T12:00:00Z') };
  return { clock, token: createTokenSource({ ...SETTINGS, ...changes }, () => new Date(clock.time)) };
}

test('token: a configured token wins', async () => {
  const { token } = aSource({ token: 'given' });
  assert.equal(await token(), 'given');
});

test('token: without a configured token or secret, there is none', async () => {
  assert.equal(await aSource({ jwtSecret: undefined }).token(), undefined);
});

test('token: is minted with all claims that gateways need, and none that break old ones', async () => {
  const minted = (await aSource().token()) ?? '';
  assert.deepEqual(decodeProtectedHeader(minted), { alg: 'HS256', typ: 'JWT' });
  const { iat = 0, exp = 0, jti, ...claims } = decodeJwt(minted);
  assert.deepEqual(claims, { sub: 'ops@hub.example', iss: 'iss', aud: 'aud' });
  assert.equal(exp - iat, 600);
  assert.match(jti ?? '', /^[0-9a-f-]{36}$/);
});

test('token: is cached and renewed before it expires', async () => {
  const { clock, token } = aSource();
  const first = await token();
  clock.time += 299_000;
  assert.equal(await token(), first);
  clock.time += 2_000;
  const second = await token();
  assert.notEqual(second, first);
  assert.notEqual(decodeJwt(second ?? '').jti, decodeJwt(first ?? '').jti);
});
