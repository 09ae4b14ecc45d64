import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { ServerList, ServerResponse } from '../../../src/registry/contract.ts';
import { emptyDatabase, openHere, testOnEveryEngine } from '../../support/databases/databases.ts';
import { type TestHub, testHub } from '../../support/hub.ts';
import { shared } from '../../support/shared.ts';
import { until } from '../../support/until.ts';
import { testWorld } from '../../support/world.ts';

const OFFICIAL = 'io.modelcontextprotocol.registry/official';

interface Described {
  name: string;
  version?: string;
  id?: string;
  [field: string]: unknown;
}

function aServer({ name, version = '1.0.0', id = name, ...fields }: Described): JsonObject {
  const provenance = { server_name: name, server_version: version, published_at: '2026-05-01T00:00:00Z' };
  return { type: 'mcp_server', id, name, version, description: `Does ${name}.`, provenance, ...fields };
}

const LONG = `org.example/${'x'.repeat(188)}`;
const SERVERS = [
  { name: '0/none', description: '' },
  { name: 'a/one', description: 'Keeps notes.' },
  { name: 'a/two', description: 'Keeps notes.' },
  { name: 'org.example/a', version: 'refs/heads/main' },
  { name: 'org.example/a', version: '1.0.0+0.7.1' },
  { name: LONG, id: 'long' },
  { name: 'org.example/Case', id: 'one' },
  { name: 'org.example/case', id: 'two' },
];
const sharedHub = shared((t) => testHub(t, { manifests: SERVERS.map(aServer) }));

async function registry(started: Promise<TestHub> = sharedHub()) {
  const { app, hub, world } = await started;
  // The order of a search changes once its texts are embedded, and pages of one search must have the same order.
  await hub.catchUpSearch();
  const get = async <T = ServerList>(url: string, headers: Record<string, string> = {}) => {
    const answer = await app.inject({ url, headers });
    return { status: answer.statusCode, headers: answer.headers, body: answer.json<T>(), text: answer.body };
  };
  const list = async (query = '') => (await get(`/v0.1/servers${query}`)).body;
  const keys = async (query = '') => (await list(query)).servers.map(keyOf);
  /** Reads all pages, sending only the cursor after the first. */
  async function walk(query: string): Promise<string[][]> {
    const pages: string[][] = [];
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
      const limit = /limit=\d+/.exec(query)?.[0] ?? 'limit=30';
      const { servers, metadata } = await list(isFirst ? `?${query}` : `?${limit}&cursor=${cursor}`);
      pages.push(servers.map(keyOf));
      assert.equal(metadata.count, servers.length);
      cursor = metadata.nextCursor;
    }
    return pages;
  }
  return { app, hub, world, get, list, keys, walk };
}

function keyOf({ server }: ServerResponse): string {
  return `${server.name}@${server.version}`;
}

testOnEveryEngine('registry: lists one entry per name and version, in a fixed order', async (t, database) => {
  const remote = { type: 'streamable-http', url: 'https://a.example/mcp' };
  const pack = { registryType: 'npm', identifier: 'a', version: '1.0.0', transport: { type: 'stdio' } };
  const { list, get } = await registry(
    testHub(t, {
      database,
      manifests: [
        { name: 'org.example/b', version: '0.2.0' },
        { name: 'org.example/a', id: 'a.sse', remotes: [remote], tags: ['x'] },
        { name: 'org.example/a', id: 'a.stdio', packages: [pack] },
        { name: 'org.example/B' },
        { name: 'org.example/b', version: '0.10.0' },
        { name: 'Repo' },
      ].map(aServer),
    }),
  );
  const { servers, metadata } = await list();
  assert.deepEqual(servers.map(keyOf), [
    'org.example/B@1.0.0',
    'org.example/a@1.0.0',
    'org.example/b@0.10.0',
    'org.example/b@0.2.0',
  ]);
  assert.deepEqual(metadata, { count: 4 });
  const { server, _meta } = servers[1] as ServerResponse;
  assert.deepEqual([server.packages, server.remotes], [[pack], [remote]]);
  assert.deepEqual(_meta['test.hub/catalog'], {
    ids: ['mcp_server:a.sse@1.0.0', 'mcp_server:a.stdio@1.0.0'],
    tags: ['x'],
    url: 'http://hub.test/entities/mcp_server:a.sse@1.0.0',
  });
  assert.deepEqual(
    servers.map((each) => each._meta[OFFICIAL].isLatest),
    [true, true, true, false],
  );
  assert.equal((await get('/v0/servers')).text, (await get('/v0.1/servers')).text);
});

testOnEveryEngine('registry: pages by key, and the cursor carries its query', async (t, database) => {
  const names = ['a', 'b', 'c', 'd', 'e'].map((letter) => `org.example/${letter}-tool`);
  const servers = names.flatMap((name) => ['1.0.0', '2.0.0'].map((version) => ({ name, version })));
  const { walk, keys, get, hub } = await registry(
    testHub(t, { database, manifests: [...servers, { name: 'com.other/x' }].map(aServer) }),
  );

  const all = (await walk('limit=3')).flat();
  assert.equal(all.length, 11);
  assert.deepEqual(all, [...all].toSorted());
  const latest = await walk('limit=2&version=latest&search=tool');
  assert.deepEqual(
    latest.flat(),
    names.map((name) => `${name}@2.0.0`),
  );
  assert.deepEqual((await walk('limit=2&version=1.0.0&search=EXAMPLE/')).flat().length, 5);

  const { metadata } = (await get('/v0.1/servers?limit=3')).body;
  await hub.removeEntity(`mcp_server:${names[0]}@1.0.0`);
  const second = await keys(`?limit=3&cursor=${metadata.nextCursor}`);
  assert.deepEqual(second, all.slice(3, 6), 'removals do not shift pages');
});

testOnEveryEngine('registry: lists matching names first, then other search results', async (t, database) => {
  const { keys, walk } = await registry(
    testHub(t, {
      database,
      manifests: [
        { name: 'org.example/my-weather' },
        { name: 'weather.io/tool' },
        { name: 'org.example/rain', description: 'The weather of tomorrow.', version: '1.0.0' },
        { name: 'org.example/rain', description: 'The weather of tomorrow.', version: '1.1.0' },
        { name: 'org.example/un_der' },
        { name: 'org.example/unAder' },
        { name: 'org.example/other', description: 'Something else.' },
      ].map(aServer),
    }),
  );
  const found = await keys('?search=Weather&version=latest');
  assert.deepEqual(found.slice(0, 3), [
    'weather.io/tool@1.0.0',
    'org.example/my-weather@1.0.0',
    'org.example/rain@1.1.0',
  ]);
  assert.deepEqual((await keys('?search=org.example/my-weather'))[0], 'org.example/my-weather@1.0.0');
  const pages = (await walk('limit=1&search=weather')).flat();
  assert.deepEqual(pages.slice(0, 4), [
    'weather.io/tool@1.0.0',
    'org.example/my-weather@1.0.0',
    'org.example/rain@1.0.0',
    'org.example/rain@1.1.0',
  ]);
  assert.equal(new Set(pages).size, pages.length, 'no entry twice');
  assert.equal((await keys('?search=n_d'))[0], 'org.example/un_der@1.0.0', 'no character is special');
  assert.equal((await keys('?search=%20')).length, 7, 'a blank search does not filter');
});

testOnEveryEngine('registry: a removed entry becomes a tombstone and can become active again', async (t, database) => {
  const { hub, keys, list, get, world } = await registry(
    testHub(t, { database, manifests: [{ name: 'a/one' }, { name: 'a/one', version: '2.0.0' }].map(aServer) }),
  );
  const before = (await list()).servers;
  const [first] = before;
  const since = first?._meta[OFFICIAL].updatedAt ?? '';
  world.setTime('2026-07-01T00:00:00.000Z');
  assert.deepEqual(await keys(`?updated_since=${since}`), [], 'strictly later');

  await hub.blockEntity('mcp_server:a/one@2.0.0', 'bad');
  assert.deepEqual(await keys(), ['a/one@1.0.0']);
  const all = (await list('?include_deleted=true')).servers.map((each) => each._meta[OFFICIAL]);
  assert.deepEqual(
    all.map(({ status, isLatest }) => [status, isLatest]),
    [
      ['active', true],
      ['deleted', false],
    ],
  );
  assert.equal(all[0]?.updatedAt, since, 'becoming latest is not a change');
  assert.deepEqual(await keys(`?updated_since=${since}`), ['a/one@2.0.0']);
  assert.equal((await get('/v0.1/servers/a%2Fone/versions/2.0.0')).status, 404);
  assert.equal((await get('/v0.1/servers/a%2Fone/versions/2.0.0?include_deleted=true')).status, 200);

  world.setTime('2026-08-01T00:00:00.000Z');
  await hub.unblockEntity('mcp_server:a/one@2.0.0');
  assert.deepEqual(await keys('?version=latest'), ['a/one@2.0.0']);
});

testOnEveryEngine('registry: a NUL in a manifest, address or cursor never causes a 500', async (t, database) => {
  const lifecycle = { status: 'deprecated', reason: 'a\u0000b' };
  const { keys, get, app } = await registry(
    testHub(t, { database, manifests: [{ name: 'org.example/a', lifecycle }, { name: 'org.example/b' }].map(aServer) }),
  );
  assert.deepEqual(await keys(), ['org.example/a@1.0.0', 'org.example/b@1.0.0']);
  for (const path of ['/v0.1/servers/a%00b%2Fc/versions', '/registry/a%00/v0.1/servers'])
    assert.equal((await get(path)).status, 404, path);
  assert.equal((await app.inject({ url: '/catalog/card/mcp_server:a%00' })).statusCode, 404);
  for (const path of ['a%00b%2Fc/status', 'a%2Fb/versions/%00/status']) {
    const change = { method: 'PATCH', url: `/v0/servers/${path}`, body: { status: 'deleted' } } as const;
    assert.equal((await app.inject(change)).statusCode, 404, path);
  }
  const after = { in: 'names', rank: 0, name: 'a\u0000', version: '1' };
  const cursor = Buffer.from(JSON.stringify({ after, includeDeleted: false })).toString('base64url');
  assert.equal((await get(`/v0.1/servers?cursor=${cursor}`)).status, 400);
});

test('registry: does not list what the policy hides', async (t) => {
  const { hub, keys } = await registry(testHub(t, { manifests: [{ name: 'a/one' }, { name: 'b/two' }].map(aServer) }));
  assert.equal((await keys()).length, 2);
  await hub.changePolicy('version: 1\nrules:\n  - name: no-b\n    match: { name: "b/*" }\n    search: hide\n');
  assert.deepEqual(await keys(), ['a/one@1.0.0']);
  // With vectors, "two" also finds "one".
  assert.ok(!(await keys('?search=two')).includes('b/two@1.0.0'));
});

test('registry: accepts names and versions in every encoding', async () => {
  const { get } = await registry();
  for (const slash of ['%2F', '%2f', '%252F', '%25252f', '/']) {
    const base = `/v0.1/servers/org.example${slash}a`;
    assert.equal((await get(`${base}/versions`)).body.servers.length, 2, slash);
    const built = ['latest', '1.0.0%2B0.7.1', '1.0.0+0.7.1', '1.0.0%252b0.7.1'].map(
      (text) => `${base}/versions/${text}`,
    );
    for (const address of [base, `${base}/`, ...built])
      assert.equal((await get<ServerResponse>(address)).body.server.version, '1.0.0+0.7.1', address);
    for (const version of ['refs%2Fheads%2Fmain', 'refs/heads/main', 'refs%252Fheads%252Fmain'])
      assert.equal((await get<ServerResponse>(`${base}/versions/${version}`)).body.server.version, 'refs/heads/main');
  }
  assert.equal((await get(`/v0.1/servers/${encodeURIComponent(LONG)}/versions/latest`)).status, 200);
  assert.equal((await get<ServerResponse>('/v0/servers/org.example%2FCase')).body.server.name, 'org.example/Case');
  for (const unknown of [
    'a%2Fb',
    'a',
    'a/b/c',
    '%2F',
    `${'a/b'.repeat(80)}`,
    'a%00b/c',
    'org.example%2FCASE',
    '..%2F..',
  ])
    assert.equal((await get(`/v0.1/servers/${unknown}/versions/latest`)).status, 404, unknown);
  assert.equal((await get('/v0.1/servers/org.example%2Fa/versions/9')).status, 404);
});

const BAD_QUERIES = [
  'limit=0',
  'limit=101',
  'limit=x',
  'limit=1.5',
  'cursor=x',
  `cursor=${Buffer.from('{}').toString('base64url')}`,
  `cursor=${Buffer.from('{"after":{"in":"names","rank":9,"name":"a","version":"1"},"includeDeleted":true}').toString('base64url')}`,
  'updated_since=yesterday',
  'updated_since=2026-05-01',
  'updated_since=2026-05-01T00:00:00Z&include_deleted=false',
  'include_deleted=maybe',
  'search=a&search=b',
  `search=${'a'.repeat(2001)}`,
  'search=%00',
  `version=${'1'.repeat(256)}`,
];
for (const query of BAD_QUERIES) {
  test(`registry: ${query.slice(0, 60)} is refused`, async () => {
    const { get } = await registry();
    const { status, body } = await get<JsonObject>(`/v0.1/servers?${query}`);
    assert.equal(status, 400);
    assert.equal(body.error, 'invalid_request');
  });
}

test('registry: a parameter without a value counts as absent, and flags may be numbers', async () => {
  const { get } = await registry();
  const full = (await get('/v0.1/servers')).body;
  for (const query of ['limit=&search=&version=&updated_since=&include_deleted=&cursor=', 'include_deleted=1'])
    assert.deepEqual((await get(`/v0.1/servers?${query}`)).body, full, query);
});

test('registry: refuses a cursor of another query, and accepts a repeated query', async () => {
  const { get } = await registry();
  const query = 'search=a&updated_since=2020-01-01T00:00:00Z&limit=1';
  const { nextCursor } = (await get(`/v0.1/servers?${query}`)).body.metadata;
  assert.match(nextCursor ?? '', /^[\w-]+$/);
  const pages = await Promise.all(
    ['', `&${query}`].map((same) => get(`/v0.1/servers?limit=1&cursor=${nextCursor}${same.replace('&limit=1', '')}`)),
  );
  for (const { body } of pages) assert.deepEqual(body.servers.map(keyOf), ['a/two@1.0.0']);
  assert.equal((await get(`/v0.1/servers?cursor=${nextCursor}&search=b`)).status, 400);
  assert.equal(
    (await get('/v0.1/servers?cursor=&search=&version=')).body.servers.length,
    SERVERS.length,
    'empty is absent',
  );
});

test('registry: the cursor of a long search fits into a URL', async () => {
  const { get } = await registry();
  const search = encodeURIComponent(`notes ${'記'.repeat(1_200)}`);
  const first = (await get(`/v0.1/servers?limit=1&search=${search}`)).body;
  assert.equal(first.servers.length, 1);
  const second = (await get(`/v0.1/servers?limit=1&cursor=${first.metadata.nextCursor}`)).body;
  assert.deepEqual([...first.servers, ...second.servers].map(keyOf).toSorted(), ['a/one@1.0.0', 'a/two@1.0.0']);
});

test('registry: the first entry has all that VS Code needs, with ETag and CORS headers', async () => {
  const { get, app } = await registry();
  const { headers, body } = await get('/v0.1/servers', { origin: 'https://elsewhere.example' });
  assert.equal(body.servers[0]?.server.description, '0/none');
  assert.equal(headers['content-type'], 'application/json; charset=utf-8');
  assert.equal(headers['access-control-allow-origin'], '*');
  assert.equal(headers['access-control-allow-methods'], 'GET, OPTIONS');
  assert.match(String(headers['access-control-allow-headers']), /^Authorization, Content-Type/);
  assert.match(String(headers['access-control-expose-headers']), /ETag/);
  assert.equal(headers['cache-control'], 'public, max-age=60');
  const known = { 'if-none-match': String(headers.etag) };
  assert.equal((await app.inject({ url: '/v0.1/servers', headers: known })).statusCode, 304);
  const asked = { origin: 'https://elsewhere.example', 'access-control-request-method': 'GET' };
  const preflight = await app.inject({
    method: 'OPTIONS',
    url: '/v0.1/servers/a%2Fone/versions/latest',
    headers: asked,
  });
  assert.equal(preflight.statusCode, 204);
  assert.equal(preflight.headers['access-control-allow-origin'], '*');
  assert.equal(preflight.headers['access-control-allow-methods'], 'GET, OPTIONS');
});

test('registry: serves health, ping, version and its own description', async () => {
  const { app, get } = await registry();
  assert.deepEqual((await get('/v0/health')).body, { status: 'ok' });
  assert.deepEqual((await get('/v0.1/ping')).body, { pong: true });
  assert.deepEqual(Object.keys((await get('/v0.1/version')).body), ['version', 'git_commit', 'build_time']);
  const { body } = await app.inject('/openapi.yaml');
  assert.equal((await app.inject('/registry/approved/openapi.yaml')).body, body, 'clients look for it below a view');
  const { info, paths, components } = parse(body);
  assert.equal(info.version, '1.0.0');
  assert.match(info.description, /https:\/\/github\.com\/modelcontextprotocol\/registry/);
  assert.ok(paths['/v0.1/servers'] && !paths['/catalog']);
  for (const [, id] of JSON.stringify(paths).matchAll(/schemas\/(\w+)/g)) assert.ok(components.schemas[id ?? ''], id);
});

test('registry: requires a token when the hub’s reads do', async (t) => {
  const settings = { API_TOKEN: 'token-of-the-hub', READ_ACCESS: 'token' };
  const { app } = await testHub(t, { settings, manifests: [aServer({ name: 'a/one' })] });
  assert.equal((await app.inject('/v0.1/servers')).statusCode, 401);
  const headers = { authorization: 'Bearer token-of-the-hub' };
  const answer = await app.inject({ url: '/v0.1/servers', headers });
  assert.equal(answer.statusCode, 200);
  assert.match(String(answer.headers['cache-control']), /^private/);
});

test('registry: answers Retry-After until its entries are built', async (t) => {
  const database = await emptyDatabase(t, 'sqlite');
  const { metrics } = testWorld();
  const other = await openHere(database, metrics);
  t.after(() => other.close());
  const lock = await other.tryLock('registry');
  const { app } = await testHub(t, { database, manifests: [aServer({ name: 'a/one' })] });
  const early = await app.inject('/v0.1/servers');
  assert.equal(early.statusCode, 503);
  assert.equal(early.headers['retry-after'], '5');
  await lock?.release();
  await until(async () => (await app.inject('/v0.1/servers')).statusCode === 200);
  assert.equal((await app.inject('/v0.1/servers')).json<ServerList>().servers.length, 1);
});
