import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testHub } from '../support/hub.ts';

test('log: writes one self-contained event per request, without the query string', async (t) => {
  const { app, world } = await testHub(t);
  await app.inject({ url: '/catalog?q=private', headers: { 'x-request-id': 'r-1', cookie: 'private' } });
  await app.inject({ url: '/catalog/entities/tool:unknown', headers: { 'x-request-id': 'r-2' } });
  await app.inject({ url: '/nowhere?private', headers: { 'x-request-id': 'r-3' } });
  await app.inject({ method: 'POST', url: '/catalog', payload: '"private"', headers: { 'x-request-id': 'r-4' } });
  const events = world.logged.map(({ level, message, fields }) => {
    const { ms, ...rest } = fields as { ms: number };
    assert.ok(ms >= 0);
    return { level, message, ...rest };
  });
  assert.deepEqual(events, [
    { level: 'info', message: 'GET /catalog 200', request_id: 'r-1', route: '/catalog', status: 200 },
    {
      level: 'info',
      message: 'GET /catalog/entities/tool:unknown 404',
      request_id: 'r-2',
      route: '/catalog/entities/:id',
      status: 404,
    },
    { level: 'info', message: 'GET /nowhere 404', request_id: 'r-3', route: undefined, status: 404 },
    { level: 'info', message: 'POST /catalog 405', request_id: 'r-4', route: undefined, status: 405 },
  ]);
});

test('log: cuts long addresses, and has frequent polls by machines at debug level', async (t) => {
  const { app, world } = await testHub(t);
  for (const url of ['/health', '/metrics', `/${'x'.repeat(5000)}`]) await app.inject(url);
  assert.deepEqual(
    world.logged.map(({ level }) => level),
    ['debug', 'debug', 'info'],
  );
  assert.ok((world.logged[2]?.message.length ?? 0) < 250);
});

test('log: leaves out a token that someone puts into an address', async (t) => {
  const token = 'Zm9v/YmFy+x==administrator';
  const { app, world } = await testHub(t, { settings: { API_TOKEN: token } });
  const headers = { authorization: `Bearer ${token}` };
  await app.inject({ method: 'DELETE', url: `/tokens/${encodeURIComponent(token)}`, headers });
  await app.inject({ url: `/${'x'.repeat(180)}/${token}`, headers });
  assert.deepEqual(
    world.logged.map(({ message }) => message),
    ['DELETE /tokens/:name 404', 'GET /… 404'],
  );
});
