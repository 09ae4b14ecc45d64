import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERROR_CODES, type ErrorCode, HubError } from '../../src/errors.ts';
import { asHubError, PROBLEMS } from '../../src/http/problem.ts';
import type { Ending } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';
import { shared } from '../support/shared.ts';
import { type Answer, assertProblem, exchange, inject, requestText } from './wire.ts';

const OPEN = { config: { isOpen: true } };
const sharedHub = shared(brokenHub);

test('problem: every code has its status, and its message arrives unchanged', async () => {
  const { app } = await sharedHub();
  for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
    const problem = assertProblem(await inject(app, `/fail/${code}`), code);
    assert.equal(problem.detail, 'This is the sentence.');
    assert.equal('errors' in problem, false);
  }
});

// The others need time or a separate database: `overloaded` is in server.test.ts, `request_timeout` and the broken
// requests in listener.test.ts, `database_unavailable` in routes/service.test.ts.
const reached: { code: ErrorCode; send: (hub: { address: string }) => Promise<Answer> }[] = [
  { code: 'invalid_request', send: ({ address }) => get(address, '/catalog?limit=0') },
  { code: 'invalid_json', send: ({ address }) => post(address, '/manifests', '{') },
  { code: 'invalid_manifest', send: ({ address }) => post(address, '/manifests', '{"type":"robot"}') },
  { code: 'unauthorized', send: ({ address }) => get(address, '/metrics') },
  { code: 'entity_not_found', send: ({ address }) => get(address, '/catalog/entities/tool:unknown') },
  { code: 'route_not_found', send: ({ address }) => get(address, '/nowhere') },
  { code: 'method_not_allowed', send: ({ address }) => exchange(address, requestText('DELETE /catalog')) },
  { code: 'payload_too_large', send: ({ address }) => post(address, '/manifests', `"${'x'.repeat(3000)}"`) },
  { code: 'unsupported_media_type', send: ({ address }) => post(address, '/manifests', 'a=b', 'text/plain') },
  { code: 'internal_error', send: ({ address }) => get(address, '/broken') },
];
test('problem: codes that need a real connection', async (t) => {
  const hub = await sharedHub();
  for (const { code, send } of reached) {
    await t.test(code, async () => {
      const answer = await send(hub);
      const { errors } = assertProblem(answer, code);
      assert.equal(errors !== undefined, code === 'invalid_request' || code === 'invalid_manifest');
      assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    });
  }
});

test('problem: an internal error reveals no details and is logged once with its cause', async () => {
  const { address, logged } = await sharedHub();
  const before = logged.length;
  const answer = await get(address, '/broken?q=private');
  const { detail, request_id } = assertProblem(answer, 'internal_error');
  assert.match(detail, /inside the hub/);
  for (const inside of ['select', 'hunter2', 'node_modules', '.ts', 'Error']) assert.ok(!answer.body.includes(inside));
  const failures = logged.slice(before).filter(({ level }) => level === 'error');
  assert.equal(failures.length, 1);
  const [failure] = failures as unknown as [{ message: string; fields: { request_id: string; error: Error } }];
  assert.equal(failure.message, 'GET /broken failed');
  assert.equal(failure.fields.request_id, request_id);
  assert.match(failure.fields.error.message, /hunter2/);
});

test('problem: an unsupported or wrong Content-Encoding is reported', async () => {
  const { address } = await sharedHub();
  const send = (encoding: string) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': encoding };
    return exchange(address, requestText('POST /manifests', headers, 'not packed at all'));
  };
  assert.match(assertProblem(await send('gzip'), 'invalid_request').detail, /cannot be decompressed/);
  assert.match(
    assertProblem(await send('zip'), 'unsupported_media_type').detail,
    /compressed with br, gzip or deflate/,
  );
});

test('problem: lists what is missing in an invalid manifest', async () => {
  const { address } = await sharedHub();
  const { errors } = assertProblem(await post(address, '/manifests', '{"type":"tool"}'), 'invalid_manifest');
  assert.deepEqual(
    errors?.map(({ path }) => path),
    ['id', 'version'],
  );
});

test('problem: reports an empty string as empty', async () => {
  const { app } = await sharedHub();
  const answer = await app.inject({ method: 'POST', url: '/v0/auth/github-at', payload: { github_token: '' } });
  assert.deepEqual(answer.json().errors, [{ path: 'github_token', message: 'must not be empty' }]);
});

test('problem: a thrown value that is not an Error is an internal error', () => {
  for (const thrown of [undefined, null, 'text', 7, {}, new TypeError('x'), { statusCode: 500 }]) {
    assert.equal(asHubError(thrown).code, 'internal_error');
  }
  assert.equal(asHubError(Object.assign(new Error('Odd.'), { statusCode: 418 })).code, 'invalid_request');
});

test('problem: titles are unique', () => {
  const titles = Object.values(PROBLEMS).map(({ title }) => title);
  assert.equal(new Set(titles).size, titles.length);
});

const validIds = ['abc', '8a4b6c1e-0d52-4f3f-9d7e-1c2b3a4d5e6f', 'a.b:c-d_1', 'x'.repeat(128)];
const invalidIds = ['', 'x'.repeat(129), 'a b', 'a"b', '<script>', 'a\tb', '{}', 'é', 'a, b'];
test('request ids: returns a valid id and replaces any other', async () => {
  const { app } = await sharedHub();
  for (const url of ['/health', '/nowhere', '/catalog/entities/%zz', '/%zz']) {
    for (const id of validIds) {
      assert.equal((await inject(app, { url, headers: { 'x-request-id': id } })).headers['x-request-id'], id, url);
    }
    for (const id of invalidIds) {
      const { headers } = await inject(app, { url, headers: { 'x-request-id': id } });
      assert.match(headers['x-request-id'] ?? '', /^[0-9a-f-]{36}$/, `${url} ${id}`);
    }
  }
  const ids = await Promise.all(
    Array.from({ length: 50 }, async () => (await inject(app, '/health')).headers['x-request-id']),
  );
  assert.equal(new Set(ids).size, 50);
});

async function brokenHub(t: Ending) {
  const { app, hub, listen, world } = await testHub(t, { settings: { METRICS_TOKEN: 'm', MAX_BODY_BYTES: '1024' } });
  app.post('/manifests', OPEN, async (request) => hub.load([{ document: request.body }]));
  app.get<{ Params: { code: ErrorCode } }>('/fail/:code', OPEN, (request) => {
    throw new HubError(request.params.code, 'This is the sentence.');
  });
  app.get('/broken', OPEN, () => {
    throw new Error('select * from entity where password = hunter2');
  });
  return { app, address: await listen(), logged: world.logged };
}

function get(address: string, path: string): Promise<Answer> {
  return exchange(address, requestText(`GET ${path}`));
}

function post(address: string, path: string, body: string, type = 'application/json'): Promise<Answer> {
  return exchange(address, requestText(`POST ${path}`, { 'Content-Type': type }, body));
}
