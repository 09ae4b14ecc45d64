import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GENERATIONS } from '../../support/servers/fake-gateway/generations.ts';
import { createRow } from '../../support/servers/fake-gateway/rows.ts';
import { startFakeGateway } from '../../support/servers/fake-gateway.ts';
import { clientFor } from '../stage.ts';

const LIST = { method: 'GET', path: '/gateways?limit=0' } as const;

for (const generation of GENERATIONS) {
  test(`client: a wrong secret is 401 at ${generation}, with the gateway’s message`, async (t) => {
    const gateway = await startFakeGateway(t, { generation });
    const client = clientFor(t, gateway, { credentials: { token: undefined, jwtSecret: 'another' } });
    const reply = await client.send(LIST);
    assert.deepEqual(reply, { kind: 'refused', status: 401, error: 'Invalid authentication credentials' });
  });
}

for (const generation of ['0.9', '1.0.3', '1.0.8'] as const) {
  test(`client: a minted token is accepted by ${generation}`, async (t) => {
    const gateway = await startFakeGateway(t, { generation });
    assert.equal((await clientFor(t, gateway).send(LIST)).kind, 'ok');
    assert.equal(gateway.calls.length, 1);
  });
}

test('client: sends a configured token unchanged', async (t) => {
  const gateway = await startFakeGateway(t, { credentials: { durableTokens: ['durable'] } });
  assert.equal((await clientFor(t, gateway, { credentials: { token: 'durable' } }).send(LIST)).kind, 'ok');
  assert.equal(gateway.calls[0]?.headers.authorization, 'Bearer durable');
  const refused = await clientFor(t, gateway, { credentials: { token: 'other' } }).send(LIST);
  assert.equal('status' in refused && refused.status, 401);
});

test('client: without credentials reports the gateway’s answer', async (t) => {
  const gateway = await startFakeGateway(t, { generation: '1.0.3' });
  const reply = await clientFor(t, gateway, { credentials: { jwtSecret: undefined } }).send(LIST);
  assert.deepEqual(reply, { kind: 'refused', status: 403, error: 'CSRF validation failed' });
  assert.equal(gateway.calls[0]?.headers.authorization, undefined);
});

test('client: switches to /v1 once the gateway announces it', async (t) => {
  const gateway = await startFakeGateway(t);
  const client = clientFor(t, gateway);
  for (const _time of [1, 2, 3]) assert.equal((await client.send(LIST)).kind, 'ok');
  assert.deepEqual(gateway.lines(), ['GET /gateways', 'GET /v1/gateways', 'GET /v1/gateways']);
});

for (const legacyPaths of [404, 410] as const) {
  test(`client: switches to /v1 once the old path answers ${legacyPaths}`, async (t) => {
    const gateway = await startFakeGateway(t, { legacyPaths });
    const client = clientFor(t, gateway);
    assert.equal((await client.send(LIST)).kind, 'ok');
    assert.equal((await client.send({ method: 'POST', path: '/prompts', body: aPrompt('a') })).kind, 'ok');
    assert.deepEqual(gateway.lines(), ['GET /gateways', 'GET /v1/gateways', 'POST /v1/prompts']);
  });

  test(`client: concurrent calls all switch to /v1 after ${legacyPaths}`, async (t) => {
    const gateway = await startFakeGateway(t, { legacyPaths, latencyMs: 5 });
    const client = clientFor(t, gateway);
    const replies = await Promise.all([1, 2, 3, 4].map(() => client.send(LIST)));
    assert.deepEqual(new Set(replies.map(({ kind }) => kind)), new Set(['ok']));
  });
}

test('client: a missing route of an old gateway does not switch other calls to /v1', async (t) => {
  const gateway = await startFakeGateway(t, { generation: '1.0.3' });
  const client = clientFor(t, gateway);
  assert.deepEqual(await client.send({ method: 'GET', path: '/other' }), {
    kind: 'refused',
    status: 404,
    error: 'Not Found',
  });
  assert.equal((await client.send(LIST)).kind, 'ok');
  assert.deepEqual(gateway.lines(), ['GET /other', 'GET /v1/other', 'GET /gateways']);
});

test('client: an item counts as missing only if both paths say so', async (t) => {
  const [newer, older] = [
    await startFakeGateway(t, { legacyPaths: 404 }),
    await startFakeGateway(t, { generation: '1.0.3' }),
  ];
  const row = createRow('a', { url: 'http://127.0.0.1:1/sse', transport: 'SSE' });
  newer.table.gateways.push(row);
  assert.equal((await clientFor(t, newer).send({ method: 'DELETE', path: `/gateways/${row.id}` })).kind, 'ok');
  const missing = await clientFor(t, older).send({ method: 'DELETE', path: '/gateways/none' });
  assert.equal(missing.kind === 'refused' && missing.status, 404);
});

const errorShapes = [
  { body: { detail: 'Access denied' }, error: 'Access denied' },
  {
    body: { detail: { message: 'A tool with this name already exists', success: false } },
    error: 'A tool with this name already exists',
  },
  {
    body: { detail: [{ loc: ['body', 'name'], msg: 'Field required', input: { auth_token: 'x' } }, { msg: 'Bad' }] },
    error: 'body.name: Field required; Bad',
  },
  { body: { message: 'Gateway name already exists' }, error: 'Gateway name already exists' },
  { body: { error: 'Account locked', message: 'Too many.' }, error: 'Account locked: Too many.' },
  { body: 'Internal Server Error', error: 'Internal Server Error' },
  { body: {}, error: 'no reason given' },
  {
    body: '<html><head><style>p { color: red }</style><title>Not Found</title></head>\n<p>Nothing <b>here</b></p></html>',
    error: 'Not Found Nothing here',
  },
  { body: { detail: 'a\u0000b \ud83d' }, error: 'ab \ufffd' },
  { body: { detail: 'x'.repeat(5000) }, error: 'x'.repeat(1000) },
];
for (const { body, error } of errorShapes) {
  test(`client: extracts the error message from ${JSON.stringify(body).slice(0, 60)}`, async (t) => {
    const gateway = await startFakeGateway(t);
    gateway.surprise('GET /gateways', { status: 400, body });
    assert.deepEqual(await clientFor(t, gateway).send(LIST), { kind: 'refused', status: 400, error });
  });
}

test('client: removes secrets that the gateway echoes', async (t) => {
  const gateway = await startFakeGateway(t);
  gateway.onCall(({ headers, body }) => {
    const detail = `Bad: ${headers.authorization} ${JSON.stringify(body)}`;
    gateway.surprise('POST /gateways', { status: 400, body: { detail } });
  });
  const body = { name: 'a', auth_token: 'hunter2-token', auth_headers: [{ key: 'X-Key', value: 'hunter2-header' }] };
  const reply = await clientFor(t, gateway).send({ method: 'POST', path: '/gateways', body });
  assert.match('error' in reply ? reply.error : '', /^Bad: Bearer … .*X-Key/);
  assert.doesNotMatch(JSON.stringify(reply), /hunter2|eyJ/);
});

test('client: an HTML page instead of JSON is not a success', async (t) => {
  const gateway = await startFakeGateway(t);
  gateway.surprise('POST /gateways', { status: 200, body: '<html>Welcome</html>' });
  const reply = await clientFor(t, gateway).send({ method: 'POST', path: '/gateways', body: {} });
  assert.deepEqual(reply, { kind: 'down', error: 'answered with something that is not JSON: check MCP_GATEWAY_URL' });
});

test('client: a proxy’s 502 page means that the gateway is down', async (t) => {
  const gateway = await startFakeGateway(t);
  for (const _time of [1, 2]) gateway.surprise('GET /gateways', { status: 502, body: '<html>Bad Gateway</html>' });
  assert.deepEqual(await clientFor(t, gateway).send(LIST), {
    kind: 'down',
    error: 'is not running: a proxy answered 502 for it',
  });
});

const retries = [
  { line: 'GET /gateways', surprise: { status: 500, body: { detail: 'x' } }, calls: 2 },
  { line: 'GET /gateways', surprise: { status: 503, body: { detail: 'x' } }, calls: 2 },
  { line: 'GET /gateways', surprise: { status: 502, body: 'Bad Gateway' }, calls: 2 },
  { line: 'GET /gateways', surprise: 'dropped', calls: 2 },
  { line: 'GET /gateways', surprise: { status: 502, body: { message: 'x' } }, calls: 1 },
  ...[400, 403, 409, 413, 415, 422].map((status) => ({
    line: 'GET /gateways',
    surprise: { status, body: {} },
    calls: 1,
  })),
  { line: 'POST /gateways', surprise: { status: 500, body: { detail: 'x' } }, calls: 1 },
  { line: 'POST /gateways', surprise: 'lost', calls: 1 },
] as const;
for (const { line, surprise, calls } of retries) {
  const what =
    typeof surprise === 'string' ? `a ${surprise} connection` : `${surprise.status} ${JSON.stringify(surprise.body)}`;
  test(`client: ${line} that ends with ${what} is sent ${calls === 1 ? 'once' : 'twice'}`, async (t) => {
    const gateway = await startFakeGateway(t);
    gateway.surprise(line, surprise);
    const method = line.startsWith('GET') ? 'GET' : 'POST';
    const body = method === 'POST' ? { name: 'a', url: 'https://h.example/sse' } : undefined;
    const reply = await clientFor(t, gateway).send({ method, path: '/gateways', body });
    assert.equal(gateway.calls.length, calls);
    assert.equal(reply.kind === 'ok', calls === 2);
  });
}

test('client: an unreachable gateway is down after a second try', async (t) => {
  const gateway = await startFakeGateway(t);
  await gateway.stop();
  assert.deepEqual(await clientFor(t, gateway).send(LIST), {
    kind: 'down',
    error: 'could not be reached: nothing listens there (ECONNREFUSED)',
  });
});

test('client: slow calls have a longer time limit than others', async (t) => {
  const gateway = await startFakeGateway(t, { latencyMs: 150 });
  const client = clientFor(t, gateway, { timeoutMs: 50, slowTimeoutMs: 60_000 });
  assert.equal((await client.send({ ...LIST, isSlow: true })).kind, 'ok');
  assert.deepEqual(await client.send(LIST), { kind: 'timeout', error: 'did not answer within 0.05 s' });
});

test('client: a stopped call ends at once', async (t) => {
  const gateway = await startFakeGateway(t, { latencyMs: 60_000 });
  const stopping = new AbortController();
  setTimeout(() => stopping.abort(), 20);
  const reply = await clientFor(t, gateway).send({ ...LIST, signal: stopping.signal });
  // Without the signal it would end with a timeout.
  assert.equal(reply.kind, 'down');
});

test('client: after 429 waits as long as the gateway demands', async (t) => {
  const gateway = await startFakeGateway(t, {
    generation: '1.0.3',
    rateLimit: { limit: 1, windowMs: 2_000, retryAfterSec: 2.1 },
  });
  const client = clientFor(t, gateway, { sleep: async () => {} });
  assert.equal((await client.send(LIST)).kind, 'ok');
  const refused = await client.send(LIST);
  assert.equal(refused.kind, 'down');
  assert.match(
    'error' in refused ? refused.error : '',
    /^answered 429: Rate limit exceeded: Maximum 1 requests per minute/,
  );
  const waiting = await client.send(LIST);
  assert.equal(gateway.calls.length, 2);
  assert.ok(waiting.kind === 'down' && waiting.retryAfterMs !== undefined && waiting.retryAfterMs <= 2_100);
  assert.equal('error' in waiting && waiting.error, 'error' in refused && refused.error);
  await new Promise((resolve) => setTimeout(resolve, 2_150));
  assert.equal((await client.send(LIST)).kind, 'ok');
});

test('client: all callers slow down when few calls are left', async (t) => {
  const gateway = await startFakeGateway(t, { generation: '1.0.3', rateLimit: { limit: 13 } });
  const pauses: number[] = [];
  const client = clientFor(t, gateway, { sleep: async (ms) => void pauses.push(ms) });
  for (let call = 0; call < 3; call += 1) await client.send(LIST);
  assert.deepEqual(pauses, [], 'ten calls stay reserved for others');
  await Promise.all([1, 2, 3, 4].map(() => client.send(LIST)));
  assert.deepEqual(
    pauses.map((ms) => Math.round(ms / 1000)),
    [61, 61, 61, 122],
    'three in a sliding minute, over all callers',
  );
});

function aPrompt(name: string) {
  return { name, template: '', prompt: { name, template: '' } };
}
