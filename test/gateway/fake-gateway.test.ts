// Checks the fake gateway against the facts of gateway.md, without the hub: the other tests rely on them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { SignJWT } from 'jose';
import { GENERATIONS, type Generation } from '../support/servers/fake-gateway/generations.ts';
import { ADMIN, type FakeGateway, SECRET, startFakeGateway } from '../support/servers/fake-gateway.ts';
import { H } from './stage.ts';

type Claims = Record<string, unknown>;

function aToken(claims: Claims = {}, { secret = SECRET, alg = 'HS256' } = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const usual = { sub: ADMIN, iss: 'mcpgateway', aud: 'mcpgateway-api', iat: now, exp: now + 60, jti: randomUUID() };
  const kept = Object.entries({ ...usual, ...claims }).filter(([, value]) => value !== undefined);
  return new SignJWT(Object.fromEntries(kept)).setProtectedHeader({ alg }).sign(new TextEncoder().encode(secret));
}

async function call(gateway: FakeGateway, line: string, body?: object, token?: string) {
  const [method, path] = line.split(' ');
  const bearer = token ?? (await aToken());
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  // biome-ignore lint/suspicious/noExplicitAny: each test checks some members of the response
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

const tool = (fields: object) => ({ tool: { url: `${H}/api`, request_type: 'GET', ...fields } });
const server = (fields: object) => ({ name: 'a', url: `${H}/sse`, transport: 'SSE', ...fields });

const tokens: {
  what: string;
  claims?: Claims;
  options?: { secret?: string; alg?: string };
  statuses: Partial<Record<Generation, number>>;
}[] = [
  { what: 'that is valid', statuses: { '0.6': 401, '0.9': 200, '1.0.3': 200, '1.0.8': 200 } },
  { what: 'without aud', claims: { aud: undefined }, statuses: { '0.6': 200, '0.9': 401, '1.0.8': 401 } },
  { what: 'for an invalid user', claims: { sub: 'admin' }, statuses: { '0.9': 401, '1.0.8': 401 } },
  { what: 'without jti', claims: { jti: undefined }, statuses: { '0.9': 200, '1.0.3': 401, '1.0.8': 401 } },
  { what: 'without exp', claims: { exp: undefined }, statuses: { '0.9': 200, '1.0.8': 401 } },
  { what: 'that has expired', claims: { exp: 1_000_000 }, statuses: { '0.9': 401, '1.0.8': 401 } },
  { what: 'without iss', claims: { iss: undefined }, statuses: { '1.0.8': 401 } },
  { what: 'with teams: null', claims: { teams: null }, statuses: { '0.9': 500, '1.0.8': 200 } },
  { what: 'with another secret', options: { secret: 'other' }, statuses: { '0.6': 401, '1.0.8': 401 } },
  { what: 'signed with HS512', options: { alg: 'HS512' }, statuses: { '1.0.8': 401 } },
];
for (const { what, claims, options, statuses } of tokens) {
  test(`fake gateway: answers a token ${what} as real gateways do`, async (t) => {
    for (const [generation, status] of Object.entries(statuses) as [Generation, number][]) {
      const gateway = await startFakeGateway(t, { generation });
      const response = await fetch(`${gateway.url}/tools`, {
        headers: { authorization: `Bearer ${await aToken(claims, options)}` },
      });
      assert.equal(response.status, status, generation);
      await response.body?.cancel();
    }
  });
}

test('fake gateway: bodies are flat up to 0.6 and wrapped later; servers are always flat', async (t) => {
  for (const generation of GENERATIONS) {
    const gateway = await startFakeGateway(t, { generation });
    const token = generation === '0.6' ? await aToken({ aud: undefined }) : await aToken();
    const wrapped = await call(gateway, 'POST /tools', tool({ name: 'a' }), token);
    const flat = await call(gateway, 'POST /tools', tool({ name: 'b' }).tool, token);
    assert.deepEqual([wrapped.status, flat.status], generation === '0.6' ? [422, 200] : [200, 422], generation);
    assert.equal((await call(gateway, 'POST /gateways', server({}), token)).status, 200);
    assert.equal((await call(gateway, 'POST /gateways', { gateway: server({}) }, token)).status, 422);
  }
});

test('fake gateway: duplicate tools collide only by slug; MCP tools are 422', async (t) => {
  const gateway = await startFakeGateway(t);
  const post = async (fields: object) => (await call(gateway, 'POST /tools', tool(fields))).status;
  assert.deepEqual([await post({ name: 'dup-slug' }), await post({ name: 'dup-slug' })], [200, 409]);
  assert.deepEqual(
    [await post({ name: 'dup_under' }), await post({ name: 'dup_under' }), await post({ name: 'dup-under' })],
    [200, 200, 400],
  );
  assert.equal(await post({ name: 'mcp', integration_type: 'MCP' }), 422);
  assert.equal(await post({ name: 'has blank' }), 422);
  const { body } = await call(gateway, 'POST /tools', tool({ name: 'My_Tool' }));
  assert.deepEqual([body.name, body.originalName, body.customName], ['my-tool', 'My_Tool', 'My_Tool']);
  const older = await startFakeGateway(t, { generation: '0.9' });
  const again = [1, 2].map(() => call(older, 'POST /tools', tool({ name: 'dup_under' })));
  assert.deepEqual((await Promise.all(again)).map(({ status }) => status).toSorted(), [200, 409]);
  const oldest = await startFakeGateway(t, { generation: '0.6' });
  const token = await aToken({ aud: undefined });
  await call(oldest, 'POST /tools', tool({ name: 'x' }).tool, token);
  const duplicate = await call(oldest, 'POST /tools', tool({ name: 'x' }).tool, token);
  assert.deepEqual([duplicate.status, duplicate.body.detail], [400, 'Tool already exists: x']);
});

test('fake gateway: a taken slug is 409; a taken address is 409 unless the credentials differ', async (t) => {
  const gateway = await startFakeGateway(t, { allowsLocalhost: true });
  const post = async (fields: object) => {
    const { status, body } = await call(gateway, 'POST /gateways', server(fields));
    return `${status} ${body.message ?? body.status}`;
  };
  assert.equal(await post({ name: 'Hub A', url: 'http://127.0.0.1:9/sse' }), '200 active');
  assert.equal(await post({ name: 'hub-a', url: `${H}/other` }), '409 Gateway name already exists');
  assert.equal(await post({ name: 'b', url: 'http://localhost:9/sse' }), '409 Gateway already exists');
  assert.equal(await post({ name: 'c', url: 'http://localhost:9/sse', auth_token: 'x' }), '200 active');
  assert.equal(await post({ name: 'd', url: 'http://localhost:9/sse?case=1' }), '200 active');
});

test('fake gateway: checks transports, and refuses addresses that it may not connect to', async (t) => {
  const statuses = async (generation: Generation, bodies: object[]) => {
    const gateway = await startFakeGateway(t, { generation, unresolvable: ['nowhere.example'] });
    return Promise.all(
      bodies.map(
        async (body, index) => (await call(gateway, 'POST /gateways', server({ name: `n${index}`, ...body }))).status,
      ),
    );
  };
  const bodies = [
    { url: `${H}/1/mcp`, transport: 'streamablehttp' },
    { url: `${H}/2/mcp`, transport: 'HTTP' },
    { url: `${H}/3`, transport: 'STDIO' },
    { url: `${H}/4`, transport: 'streamable-http' },
    { url: `${H}/messages/` },
    { url: 'http://127.0.0.1:1/sse' },
    { url: 'https://nowhere.example/sse' },
    { url: 'http://[::1]/sse' },
    { url: 'https://u:p@h.example/sse' },
    { name: 'a/b' },
    { url: `${H}/5`, auth_type: 'odd' },
  ];
  assert.deepEqual(await statuses('1.0.8', bodies), [200, 422, 422, 422, 502, 422, 422, 422, 422, 422, 422]);
  assert.deepEqual(await statuses('1.0.3', bodies.slice(0, 6)), [200, 200, 200, 422, 502, 422]);
  assert.deepEqual(await statuses('0.9', bodies.slice(0, 6)), [200, 200, 200, 422, 503, 200]);
});

test('fake gateway: PUT is flat; refresh and delete answer as real gateways do', async (t) => {
  const gateway = await startFakeGateway(t, { servers: { [`${H}/sse`]: { tools: ['x'] } } });
  const { body: row } = await call(gateway, 'POST /gateways', server({}));
  await call(gateway, `PUT /gateways/${row.id}`, { gateway: { url: `${H}/new/sse` } });
  assert.equal(gateway.table.gateways[0]?.fields.url, `${H}/sse`, 'a wrapped PUT changes nothing');
  await call(gateway, `PUT /gateways/${row.id}`, { url: `${H}/new/sse` });
  assert.equal(gateway.table.gateways[0]?.fields.url, `${H}/sse`, 'the server at the new address has other tools');
  await call(gateway, `PUT /gateways/${row.id}`, { url: `${H}/new/sse` });
  assert.equal(gateway.table.gateways[0]?.fields.url, `${H}/new/sse`, 'the second time it is stored');
  assert.equal((await call(gateway, 'PUT /gateways/a', { url: H })).status, 404, 'not by name');
  assert.equal((await call(gateway, 'GET /gateways/a')).body.id, row.id, 'but read by name');
  assert.equal((await call(gateway, `POST /gateways/${row.id}/tools/refresh`)).body.success, true);
  assert.equal((await call(gateway, `POST /gateways/${row.id}/state?activate=false`)).status, 200);
  assert.deepEqual((await call(gateway, 'GET /gateways')).body, []);
  assert.equal((await call(gateway, 'GET /gateways?include_inactive=true')).body.length, 1);
  assert.equal((await call(gateway, `POST /gateways/${row.id}/toggle`)).status, 401);
  assert.equal((await call(gateway, `DELETE /gateways/${row.id}`)).status, 200);
  assert.deepEqual(gateway.table.tools, [], 'including its tools');
  const missing = ['gateways', 'tools', 'resources', 'prompts'].map((kind) => call(gateway, `DELETE /${kind}/none`));
  assert.deepEqual(
    (await Promise.all(missing)).map(({ status }) => status),
    [404, 400, 404, 404],
  );
});

test('fake gateway: pages have fifty rows by default, and a cursor', async (t) => {
  const gateway = await startFakeGateway(t);
  for (let number = 0; number < 60; number += 1) await call(gateway, 'POST /tools', tool({ name: `t${number}` }));
  assert.equal((await call(gateway, 'GET /tools')).body.length, 50);
  assert.equal((await call(gateway, 'GET /tools?limit=0')).body.length, 60);
  const first = (await call(gateway, 'GET /tools?include_pagination=true')).body;
  const second = (await call(gateway, `GET /tools?include_pagination=true&cursor=${first.nextCursor}`)).body;
  assert.deepEqual([first.tools.length, second.tools.length, second.nextCursor], [50, 10, null]);
});

test('fake gateway: resources and prompts have duplicates and are adopted', async (t) => {
  const gateway = await startFakeGateway(t, {
    servers: { [`${H}/sse`]: { resources: ['memo://one'], prompts: ['greet_user'] } },
  });
  const resource = { resource: { uri: 'memo://one', name: 'one', content: 'x' } };
  const prompt = { prompt: { name: 'Greet User', template: '' } };
  const { body: created } = await call(gateway, 'POST /resources', resource);
  assert.equal((await call(gateway, 'POST /resources', resource)).status, 409);
  assert.equal((await call(gateway, 'POST /prompts', prompt)).body.name, 'greet-user');
  assert.equal((await call(gateway, 'POST /prompts', prompt)).status, 409);
  const { body: server1 } = await call(gateway, 'POST /gateways', server({}));
  const [adopted] = gateway.table.resources;
  assert.deepEqual([adopted?.id, adopted?.gatewayId, adopted?.fields.content], [created.id, server1.id, '']);
  assert.equal(gateway.table.prompts[0]?.slug, 'a-greet-user');
  assert.equal((await call(gateway, 'POST /resources', resource)).status, 200, 'a new standalone row');
});

test('fake gateway: announces /v1 with the higher rate limit; old versions do not have it', async (t) => {
  const gateway = await startFakeGateway(t, { rateLimit: {} });
  const { headers } = await call(gateway, 'GET /tools');
  assert.equal(headers.get('link'), '</v1/tools>; rel="successor-version"');
  assert.deepEqual([headers.get('deprecation'), headers.get('x-ratelimit-limit')], ['true', '100']);
  const versioned = await call(gateway, 'GET /v1/tools');
  assert.deepEqual([versioned.headers.get('link'), versioned.headers.get('x-ratelimit-limit')], [null, '500']);
  const older = await startFakeGateway(t, { generation: '1.0.3' });
  assert.equal((await call(older, 'GET /v1/tools')).status, 404);
});

test('fake gateway: answers 429, then refuses everything', async (t) => {
  const gateway = await startFakeGateway(t, { rateLimit: { limit: 2 } });
  const answers = [];
  for (let count = 0; count < 9; count += 1) answers.push(await call(gateway, 'GET /tools'));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 429, 429, 429, 429, 429, 429, 429],
  );
  assert.equal(answers[2]?.headers.get('retry-after'), '60');
  assert.deepEqual([answers[8]?.headers.get('retry-after'), answers[8]?.body.error], ['900', 'Account locked']);
  assert.equal((await call(gateway, 'GET /health')).status, 429);
});

test('fake gateway: answers 202 until the server is active', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 2 });
  const first = await call(gateway, 'POST /gateways', server({}));
  const again = await call(gateway, 'POST /gateways', server({}));
  assert.deepEqual([first.status, again.status, first.body.id], [202, 202, again.body.id]);
  assert.equal(first.headers.get('retry-after'), '5');
  const seen = [];
  for (const _poll of [1, 2]) seen.push((await call(gateway, `GET /gateways/${first.body.id}`)).body.status);
  assert.deepEqual(seen, ['pending', 'active']);
});

test('fake gateway: after 202, ignores changes until the server is active, and deletes it later', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 1 });
  const { body: first } = await call(gateway, 'POST /gateways', server({ url: `${H}/messages/` }));
  const line = `/gateways/${first.id}`;
  assert.match((await call(gateway, `GET ${line}`)).body.lastError, /405 Method Not Allowed/);
  const ignored = await call(gateway, `PUT ${line}`, { url: `${H}/sse` });
  assert.deepEqual([ignored.status, ignored.body.url], [202, `${H}/messages/`]);
  assert.equal((await call(gateway, 'POST /gateways', server({ url: `${H}/sse` }))).body.id, first.id);
  const deletion = await call(gateway, `DELETE ${line}`);
  assert.deepEqual([deletion.status, deletion.body.status], [202, 'deleting']);
  assert.equal((await call(gateway, 'POST /gateways', server({ url: `${H}/sse` }))).status, 409, 'its name is taken');
  assert.equal((await call(gateway, `GET ${line}`)).status, 404);
  assert.equal((await call(gateway, 'POST /gateways', server({ url: `${H}/sse` }))).status, 202);
});

test('fake gateway: a change is answered with 202 too, and the server is pending again', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 1 });
  const { body: first } = await call(gateway, 'POST /gateways', server({}));
  assert.equal((await call(gateway, `GET /gateways/${first.id}`)).body.status, 'active');
  const changed = await call(gateway, `PUT /gateways/${first.id}`, { url: `${H}/new/sse` });
  assert.deepEqual([changed.status, changed.body.status, changed.body.url], [202, 'pending', `${H}/new/sse`]);
});
