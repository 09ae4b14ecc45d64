import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { test } from 'node:test';
import { z } from 'zod';
import type { ErrorCode } from '../../src/errors.ts';
import type { Ending } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';
import { shared } from '../support/shared.ts';
import { assertProblem, exchange, requestText } from './wire.ts';

const TOKEN = 'secret-token-of-the-test';
const PRIVATE = 'private-words-of-the-caller';
/** The schema that these tests read: an object with a name and a count. */
const Body = z.object({ name: z.string(), count: z.number().int().min(1), nested: z.unknown().optional() });

const sharedHub = shared((t) => readingHub(t));

interface BadBody {
  name: string;
  body: string;
  code: ErrorCode;
  headers?: Record<string, string>;
  /** The path of the reported error. */
  fault?: string;
}

const badBodies: BadBody[] = [
  { name: 'half an object', body: `{"name": "${PRIVATE}`, code: 'invalid_json' },
  { name: 'not JSON', body: `name=${PRIVATE}`, code: 'invalid_json' },
  { name: 'a trailing comma', body: '{"name": "a", "count": 1,}', code: 'invalid_json' },
  { name: 'two documents', body: '{}{}', code: 'invalid_json' },
  { name: 'NaN', body: '{"count": NaN}', code: 'invalid_json' },
  { name: 'a NUL', body: '\u0000', code: 'invalid_json' },
  { name: 'an array', body: '[]', code: 'invalid_request', fault: '' },
  { name: 'null', body: 'null', code: 'invalid_request', fault: '' },
  { name: 'nothing', body: '', code: 'invalid_request', fault: '' },
  { name: 'spaces', body: '  \n ', code: 'invalid_request', fault: '' },
  { name: 'a missing field', body: '{"name": "a"}', code: 'invalid_request', fault: 'count' },
  { name: 'a wrong type', body: `{"name": {"a": "${PRIVATE}"}, "count": 1}`, code: 'invalid_request', fault: 'name' },
  { name: 'a number as text', body: '{"name": "a", "count": "1"}', code: 'invalid_request', fault: 'count' },
  { name: 'a number out of range', body: '{"name": "a", "count": -1}', code: 'invalid_request', fault: 'count' },
  { name: 'a number that overflows', body: '{"name": "a", "count": 1e999}', code: 'invalid_request', fault: 'count' },
  {
    name: 'a poisoned prototype',
    body: '{"__proto__": {"name": "a", "count": 1}}',
    code: 'invalid_request',
    fault: 'name',
  },
  {
    name: 'a form',
    body: `name=${PRIVATE}`,
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    code: 'unsupported_media_type',
  },
  { name: 'plain text', body: '{}', headers: { 'Content-Type': 'text/plain' }, code: 'unsupported_media_type' },
  { name: 'no content type', body: '{}', headers: { 'Content-Type': '' }, code: 'unsupported_media_type' },
  { name: 'a broken content type', body: '{}', headers: { 'Content-Type': ';;;' }, code: 'unsupported_media_type' },
  {
    name: 'invalid JSON sent as JSON',
    body: '{}',
    headers: { 'Content-Type': 'application/jsonx' },
    code: 'unsupported_media_type',
  },
  { name: 'a body over the limit', body: `{"name": "${PRIVATE.repeat(100)}"}`, code: 'payload_too_large' },
  {
    name: 'a declared length over the limit',
    body: '',
    headers: { 'Content-Length': '99999999999' },
    code: 'payload_too_large',
  },
];

test('bad bodies: each gets a clear 4xx, is not logged, and does not affect the hub', async (t) => {
  const { address, logged, entered } = await sharedHub();
  for (const { name, body, headers, code, fault } of badBodies) {
    await t.test(name, async () => {
      const all = { 'Content-Type': 'application/json', Authorization: `Bearer ${TOKEN}`, ...headers };
      const answer = await exchange(address, requestText('POST /bodies', all, body));
      const { errors = [] } = assertProblem(answer, code);
      if (fault !== undefined) assert.equal(errors[0]?.path, fault);
    });
  }
  assert.equal(entered(), 0);
  await assertUnharmed(address, logged);
});

test('bad bodies: cuts off chunks over the limit', async () => {
  const { address, logged } = await sharedHub();
  const chunk = `400\r\n${'x'.repeat(1024)}\r\n`;
  const headers = {
    'Content-Type': 'application/json',
    'Transfer-Encoding': 'chunked',
    Authorization: `Bearer ${TOKEN}`,
  };
  const answer = await exchange(address, `${requestText('POST /bodies', headers)}${chunk.repeat(5)}0\r\n\r\n`);
  assertProblem(answer, 'payload_too_large');
  await assertUnharmed(address, logged);
});

for (const length of [{ 'Content-Length': '9000' }, { 'Transfer-Encoding': 'chunked' }]) {
  const name = Object.keys(length)[0];
  test(`bad bodies: a client that is still sending is told that its body is too large (${name})`, async (t) => {
    const { address } = await sharedHub();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${TOKEN}`, ...length };
    const sending = request(`${address}/bodies`, { method: 'POST', agent, headers });
    sending.write('x'.repeat(4500));
    const [refusal] = await once(sending, 'response');
    assert.deepEqual([refusal.statusCode, refusal.headers.connection], [413, 'keep-alive']);
    refusal.resume();
    sending.end('x'.repeat(4500));
    await once(sending, 'finish');
  });
}

test('good bodies: accepts every JSON content type and unknown fields', async () => {
  const { address } = await sharedHub();
  const body = '{"name": "é 😀 \\ud83d", "count": 1, "more": [1]}';
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/vnd.x+json',
  ]) {
    const headers = { 'Content-Type': type, Authorization: `Bearer ${TOKEN}` };
    assert.equal((await exchange(address, requestText('POST /bodies', headers, body))).status, 200, type);
  }
});

test('deep nesting does not exhaust the hub', async (t) => {
  const { address, logged } = await readingHub(t, { MAX_BODY_BYTES: '1048576' });
  const body = `{"name": "a", "count": 0, "nested": ${'['.repeat(400_000)}${']'.repeat(400_000)}}`;
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${TOKEN}` };
  assertProblem(await exchange(address, requestText('POST /bodies', headers, body)), 'invalid_request');
  await assertUnharmed(address, logged);
});

const badAddresses: [path: string, code: ErrorCode][] = [
  ['/nowhere', 'route_not_found'],
  ['/catalog/nowhere', 'route_not_found'],
  ['/catalog/entities', 'route_not_found'],
  ['/catalog/entities/', 'route_not_found'],
  ['/..', 'route_not_found'],
  ['/../../etc/passwd', 'route_not_found'],
  ['/docs/static/../../../package.json', 'invalid_request'],
  ['/docs/static/..%2f..%2f..%2fpackage.json', 'route_not_found'],
  ['/docs/static/%00', 'invalid_request'],
  ['/docs/static/', 'route_not_found'],
  ['/%00', 'route_not_found'],
  ['/%F0%9F%98%80', 'route_not_found'],
  [`/${'x'.repeat(10_000)}`, 'route_not_found'],
  ['/__proto__', 'route_not_found'],
  ['/%zz', 'invalid_request'],
  ['/catalog%', 'invalid_request'],
  ['/%ff%fe', 'invalid_request'],
  [`/health?check_db=${'x'.repeat(10_000)}`, 'invalid_request'],
  [`/catalog?q=${'x'.repeat(10_000)}`, 'invalid_request'],
  ['/catalog?limit=%F0%9F%98%80', 'invalid_request'],
  ['/catalog?limit[]=1&limit[a]=2&limit=__proto__', 'invalid_request'],
];
test('bad addresses: each gets a clear 4xx and does not affect the hub', async (t) => {
  const { address, logged } = await sharedHub();
  for (const [path, code] of badAddresses) {
    await t.test(path.slice(0, 60), async () => {
      const answer = await exchange(address, requestText(`GET ${path}`));
      assertProblem(answer, code);
      assert.match(answer.headers['content-security-policy'] ?? '', /default-src 'none'/);
      assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    });
  }
  for (const query of [
    'q=%zz',
    'q=%ff',
    'q=😀',
    'q=%F0%9F%98%80',
    'q[]=a',
    '&&==&',
    'q=%25%5F%5C',
    "q='%20or%201=1--",
  ]) {
    const answer = await exchange(address, requestText(`GET /catalog?${encodeURI(query)}`));
    assert.equal(answer.status, 200, query);
  }
  await assertUnharmed(address, logged);
});

async function readingHub(t: Ending, settings: Record<string, string> = {}) {
  const { app, listen, world } = await testHub(t, {
    settings: { API_TOKEN: TOKEN, MAX_BODY_BYTES: '1024', ...settings },
  });
  let count = 0;
  app.post('/bodies', { config: { operation: 'listAudit' }, schema: { body: Body } }, async () => {
    count += 1;
    return { done: true };
  });
  return { address: await listen(), logged: world.logged, entered: () => count };
}

async function assertUnharmed(address: string, logged: readonly { level: string; message: string; fields: object }[]) {
  assert.equal((await fetch(`${address}/health?check_db=true`)).status, 200);
  const text = JSON.stringify(logged);
  for (const secret of [TOKEN, PRIVATE]) assert.ok(!text.includes(secret), 'the log contains private data');
  assert.deepEqual(
    logged.filter(({ level }) => level === 'error'),
    [],
  );
}
