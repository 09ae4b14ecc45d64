import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchQuery } from '../../../src/client/hub-client.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { ServerList, ServerResponse, Validation } from '../../../src/registry/contract.ts';
import { tempDir, testOnEveryEngine } from '../../support/databases/databases.ts';
import { type TestHub, testHub } from '../../support/hub.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';
import { shared } from '../../support/shared.ts';
import { until } from '../../support/until.ts';

const OFFICIAL = 'io.modelcontextprotocol.registry/official';
const PROVIDED = 'io.modelcontextprotocol.registry/publisher-provided';
const SCHEMAS = 'https://static.modelcontextprotocol.io/schemas';
const TOKEN = 'token-of-the-hub';

function aServer(fields: JsonObject = {}): JsonObject {
  return {
    $schema: `${SCHEMAS}/2025-12-11/server.schema.json`,
    name: 'com.acme/notes',
    description: 'Reads and writes notes.',
    version: '1.0.0',
    remotes: [{ type: 'streamable-http', url: 'https://notes.acme.example/mcp' }],
    ...fields,
  };
}

const settings = { API_TOKEN: TOKEN };
const sharedHub = shared((t) => testHub(t, { settings }));

/** Talks to the shared hub, or to the given one. */
async function registry(started: Promise<TestHub> = sharedHub()) {
  const { app, hub } = await started;
  const ask = async <T = JsonObject>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    body?: object,
    token = TOKEN,
  ) => {
    const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` };
    const answer = await app.inject({ method, url, headers, ...(body ? { body } : {}) });
    return { status: answer.statusCode, body: answer.json<T>() };
  };
  const publish = (server: object, token?: string) => ask<ServerResponse>('POST', '/v0/publish', server, token);
  const setStatus = (path: string, body: object, token?: string) =>
    ask<ServerResponse>('PATCH', `/v0/servers/com.acme%2Fnotes/${path}status`, body, token);
  const listed = async (query = '') =>
    (await ask<ServerList>('GET', `/v0.1/servers${query}`)).body.servers.map(
      ({ server, _meta }) => `${server.name}@${server.version} ${_meta[OFFICIAL].status}`,
    );
  const publisher = async (...scope: string[]) =>
    (await ask<{ token: string }>('POST', '/tokens', { name: `ci-${scope.length}`, role: 'publisher', scope })).body
      .token;
  return { app, hub, ask, publish, setStatus, listed, publisher };
}

testOnEveryEngine('publishing: a server is listed unchanged, found, installed and audited', async (t, database) => {
  const { hub, publish, listed, ask } = await registry(testHub(t, { settings, database }));
  const server = aServer({
    title: 'Notes',
    websiteUrl: 'https://acme.example',
    repository: { url: 'https://github.com/acme/notes', source: 'github', subfolder: 'src' },
    icons: [{ src: 'https://acme.example/icon.png', sizes: ['48x48'] }],
    _meta: { [PROVIDED]: { team: 'notes' } },
  });
  const { status, body } = await publish(server);
  assert.equal(status, 200);
  assert.deepEqual(body.server, server);
  assert.partialDeepStrictEqual(body._meta[OFFICIAL], { status: 'active', isLatest: true });
  assert.deepEqual(await listed(), ['com.acme/notes@1.0.0 active']);

  const id = 'mcp_server:com.acme/notes@1.0.0';
  assert.equal((await hub.getEntity(id)).remote, 'published');
  const query = searchQuery({ text: 'notes', mode: 'keyword' });
  await until(async () => (await hub.search(query)).items[0]?.id === id);
  const installed = await hub.install({ id, target: await tempDir(t), dry_run: true, frozen: false });
  assert.equal(installed.ok, true);
  assert.deepEqual((await hub.listPending({ limit: 5, offset: 0, text: '', errorOnly: false })).items[0]?.uid, id);
  const { items } = await hub.listAudit({ limit: 1 });
  assert.partialDeepStrictEqual(items[0], { operation: 'publishServer', subject: id, outcome: 'ok' });

  assert.equal((await publish(server)).status, 409, 'a version is never replaced');
  assert.equal((await publish({ ...server, description: 'Other.' })).status, 409);
  assert.equal((await publish(aServer({ name: 'com.Acme/notes', version: '2.0.0' }))).status, 409, 'ignores case');
  assert.equal((await publish(aServer({ version: '1.1.0' }))).body._meta[OFFICIAL].isLatest, true);
  await ask('DELETE', `/catalog/entities/${encodeURIComponent(id)}`);
  assert.deepEqual(await listed(), ['com.acme/notes@1.1.0 active'], 'an operator may remove it');
});

testOnEveryEngine('publishing: of many concurrent requests, exactly one publishes the version', async (t, database) => {
  const { publish } = await registry(testHub(t, { settings, database }));
  const answers = await Promise.all(
    Array.from({ length: 5 }, (_, index) => publish(aServer({ description: `Number ${index}.` }))),
  );
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409, 409, 409]);
});

test('publishing: a token publishes only names in its scope', async (t) => {
  const { publish, publisher, setStatus, hub, ask } = await registry(testHub(t, { settings }));
  const token = await publisher('com.acme/*');
  assert.equal((await publish(aServer(), token)).status, 200);
  assert.equal((await publish(aServer({ name: 'com.acmes/notes' }), token)).status, 403);
  assert.equal((await publish(aServer({ name: 'com.acme' }), token)).status, 403);
  const disguised = { type: 'mcp_server', id: 'org.other/x', name: 'com.acme/x', version: '1.0.0', description: 'x' };
  assert.equal((await publish(disguised, token)).status, 422);
  const provenance = { server_name: 'org.other/x' };
  assert.equal((await publish({ ...disguised, id: 'com.acme/x', provenance }, token)).status, 422);
  assert.equal((await publish(aServer(), '')).status, 401);
  const { body: reader } = await ask('POST', '/tokens', { name: 'r', role: 'installer' });
  assert.equal((await publish(aServer({ version: '3' }), String(reader.token))).status, 403);
  assert.equal((await setStatus('', { status: 'deprecated' }, String(reader.token))).status, 403);
  const other = await publisher('org.other/*', 'org.third/*');
  assert.equal((await setStatus('versions/1.0.0/', { status: 'deleted' }, other)).status, 403);
  assert.equal((await hub.listAudit({ limit: 1, operation: 'setServerStatus' })).items[0]?.outcome, 'refused');
});

testOnEveryEngine('publishing: versions can be deprecated, deleted and reactivated', async (t, database) => {
  const { publish, setStatus, listed, hub, ask } = await registry(testHub(t, { settings, database }));
  await publish(aServer());
  await publish(aServer({ version: '2.0.0' }));
  const deprecated = await setStatus('versions/1.0.0/', { status: 'deprecated', statusMessage: 'Use 2.' });
  assert.partialDeepStrictEqual(deprecated.body._meta[OFFICIAL], { status: 'deprecated', statusMessage: 'Use 2.' });
  assert.equal((await setStatus('versions/1.0.0/', { status: 'deprecated', statusMessage: 'Use 2.' })).status, 400);
  assert.equal((await setStatus('versions/1.0.0/', { status: 'active', statusMessage: 'x' })).status, 400);
  assert.equal((await setStatus('versions/1.0.0/', { status: 'gone' })).status, 400);
  assert.equal((await setStatus('versions/9/', { status: 'deleted' })).status, 404);

  const deleted = await setStatus('versions/2.0.0/', { status: 'deleted' });
  assert.partialDeepStrictEqual(deleted.body._meta[OFFICIAL], { status: 'deleted', isLatest: false });
  assert.deepEqual(await listed(), ['com.acme/notes@1.0.0 deprecated']);
  assert.deepEqual(await listed('?include_deleted=true'), [
    'com.acme/notes@1.0.0 deprecated',
    'com.acme/notes@2.0.0 deleted',
  ]);
  assert.equal((await publish(aServer({ version: '2.0.0' }))).status, 409, 'a deleted version is not free');
  const query = searchQuery({ text: 'notes', mode: 'keyword', versions: 'all' });
  await until(async () => (await hub.search(query)).items.every(({ version }) => version !== '2.0.0'));

  const all = await ask<{ updatedCount: number }>('PATCH', '/v0.1/servers/com.acme/notes/status', { status: 'active' });
  assert.deepEqual([all.status, all.body.updatedCount], [200, 2]);
  assert.deepEqual(await listed('?version=latest'), ['com.acme/notes@2.0.0 active']);
  assert.equal((await ask('PATCH', '/v0/servers/com.acme%2Fnotes/status', { status: 'active' })).status, 400);
});

test('publishing: a remote cannot replace, extend or remove a published server', async (t) => {
  const { publish, hub, ask, setStatus } = await registry(testHub(t, { settings }));
  await publish(aServer());
  const catalog = await startIndexServer(t);
  const theirs = { type: 'mcp_server', id: 'com.acme/notes', name: 'com.acme/notes', version: '1.0.0' };
  const copy = { ...theirs, id: 'copy', remotes: [{ type: 'sse', url: 'https://evil.example' }] };
  const other = { ...theirs, id: 'com.acme/tasks', name: 'com.acme/tasks' };
  const listed = { ...theirs, id: 'other-id', name: 'com.acme/listed' };
  catalog.put('/index.json', { items: [theirs, copy, other, listed].map((manifest) => ({ manifest })) });
  const url = catalog.url('/index.json');
  await hub.addRemote(url, { priority: 1000 });
  await hub.ingest();
  await hub.changeRemote(url, { priority: 5 });
  const shown = async () =>
    (await ask<ServerResponse>('GET', '/v0.1/servers/com.acme%2Fnotes/versions/1.0.0')).body.server.remotes;
  assert.deepEqual(await shown(), aServer().remotes);
  assert.equal((await publish(aServer({ name: 'com.acme/tasks' }))).status, 409, 'nor is a remote’s replaced');
  const refused = await ask('PATCH', '/v0/servers/com.acme%2Ftasks/versions/1.0.0/status', { status: 'deleted' });
  assert.deepEqual([refused.status, refused.body.code], [409, 'not_published']);
  const named = await ask('PATCH', '/v0/servers/com.acme%2Flisted/versions/1.0.0/status', { status: 'deleted' });
  assert.deepEqual([named.status, named.body.code], [409, 'not_published'], 'it has another id');
  catalog.put('/index.json', { items: [{ manifest: other }] });
  await hub.ingest();
  await hub.removeRemote(url, { purge: true });
  assert.deepEqual(await shown(), aServer().remotes);
  assert.equal((await setStatus('versions/1.0.0/', { status: 'deprecated' })).status, 200);
});

test('publishing: the policy applies to published servers', async (t) => {
  const { publish, hub, listed, setStatus } = await registry(testHub(t, { settings }));
  const rule = (what: string) =>
    hub.changePolicy(`version: 1\nrules:\n  - name: own\n    match: { remote: published }\n    ${what}\n`);
  await rule('search: require_approval');
  const { status, body } = await publish(aServer());
  assert.equal(status, 200);
  assert.deepEqual(body.server, aServer());
  const waits = /Waits for approval: an operator of this hub must approve 'mcp_server:com.acme\/notes@/;
  assert.match(JSON.stringify(body._meta['test.hub/catalog']), waits);
  assert.deepEqual(await listed(), []);
  const { items } = await hub.listApprovals({ state: 'pending', limit: 5, offset: 0 });
  assert.equal(items[0]?.id, 'mcp_server:com.acme/notes@1.0.0');
  const { digest } = await hub.getApproval('mcp_server:com.acme/notes@1.0.0');
  await hub.decideApproval('mcp_server:com.acme/notes@1.0.0', { decision: 'approve', digest });
  assert.deepEqual(await listed(), ['com.acme/notes@1.0.0 active']);
  assert.equal((await setStatus('versions/1.0.0/', { status: 'deprecated' })).status, 200);
  assert.deepEqual(await listed(), ['com.acme/notes@1.0.0 deprecated'], 'the approval covers its content');

  await rule('install: require_approval');
  const later = await publish(aServer({ version: '2.0.0' }));
  assert.match(JSON.stringify(later.body._meta['test.hub/catalog']), waits, 'also if it is listed');
  await rule('search: hide');
  const hidden = await publish(aServer({ version: '3.0.0' }));
  assert.match(JSON.stringify(hidden.body._meta['test.hub/catalog']), /Not listed: the policy/);
});

test('publishing: a manifest is registered with its remote, like a server.json', async () => {
  const { publish, hub } = await registry();
  const manifest = { type: 'mcp_server', id: 'com.acme/crm', name: 'com.acme/crm', version: '1.0.0' };
  const { status } = await publish({ ...manifest, remotes: [{ type: 'sse', url: 'https://crm.acme.example/sse' }] });
  assert.equal(status, 200);
  const { text } = await hub.getManifest('mcp_server:com.acme/crm@1.0.0');
  assert.deepEqual(JSON.parse(text).mcp_registration, {
    server: { transport: 'SSE', url: 'https://crm.acme.example/sse' },
  });
});

test('publishing: accepts a manifest in the hub’s own format', async () => {
  const { publish, listed } = await registry();
  const manifest = {
    type: 'mcp_server',
    id: 'com.acme/pdf',
    name: 'com.acme/pdf',
    version: '1.0.0',
    description: 'Reads PDF files.',
    artifacts: [{ kind: 'pypi', spec: { package: 'acme-pdf', version: '1.0.0' } }],
    provenance: { published_at: '2020-01-01T00:00:00Z', registry_status: 'deleted' },
  };
  const { status, body } = await publish(manifest);
  assert.equal(status, 200, JSON.stringify(body));
  assert.notEqual(body._meta[OFFICIAL].publishedAt, '2020-01-01T00:00:00Z');
  assert.ok((await listed()).includes('com.acme/pdf@1.0.0 active'));
  for (const wrong of [{ type: 'agent' }, { type: 'x' }, { id: 'pdf' }, { name: 'PDF' }, { version: 1 }])
    assert.equal((await publish({ ...manifest, ...wrong })).status, 422, JSON.stringify(wrong));
});

const STDIO = { type: 'stdio' };
const pack = (fields: JsonObject) => ({
  packages: [{ registryType: 'npm', identifier: 'notes', version: '1.0.0', transport: STDIO, ...fields }],
});
const BAD_SERVERS: [string, JsonObject][] = [
  ['schema', { $schema: undefined }],
  ['schema', { $schema: `${SCHEMAS}/2030-01-01/server.schema.json` }],
  ['schema', { $schema: 'https://example.org/x.json' }],
  ['name', { name: 'notes' }],
  ['name', { name: 'com.acme/' }],
  ['name', { name: 'com.acme/a b' }],
  ['name', { name: 'com.acme/a/b' }],
  ['name', { name: '-com/ab' }],
  ['name', { name: `com.acme/${'x'.repeat(200)}` }],
  ['name', { name: 'com.acme/\u0000x' }],
  ['description', { description: 'x'.repeat(101) }],
  ['description', { description: '  ' }],
  ['title', { title: '' }],
  ['version', { version: 'latest' }],
  ['version', { version: '^1.0.0' }],
  ['version', { version: '1.x' }],
  ['version', { version: '1.0.0 || 2.0.0' }],
  ['version', { version: '1 - 2' }],
  ['version', { version: '>=1' }],
  ['version', { version: '../1' }],
  ['version', { version: 'a@b' }],
  ['version', { version: 1 }],
  ['websiteUrl', { websiteUrl: 'http://acme.example' }],
  ['repository.url', { repository: { url: 'https://example.org/x', source: 'github' } }],
  ['repository.subfolder', { repository: { url: 'https://github.com/a/b', source: 'github', subfolder: '../x' } }],
  ['icons[0].src', { icons: [{ src: 'data:image/png;base64,x' }] }],
  ['packages[0].version', pack({ version: 'latest' })],
  ['packages[0].identifier', pack({ identifier: 'a b' })],
  ['packages[0].registry_type', pack({ registry_type: 'npm' })],
  ['packages[0].fileSha256', pack({ registryType: 'mcpb' })],
  ['packages[0].transport.url', pack({ transport: { type: 'sse', url: 'http://localhost:{port}/x' } })],
  ['packages[0].packageArguments[0].name', pack({ packageArguments: [{ type: 'named', name: '--a <b>' }] })],
  [
    'packages[0].packageArguments[0].value',
    pack({ packageArguments: [{ type: 'named', name: '--a', value: '--a=1' }] }),
  ],
  ['packages[0].packageArguments[0]', pack({ packageArguments: [{ type: 'positional' }] })],
  ['packages[0].packageArguments[0].type', pack({ packageArguments: [{ type: 'other' }] })],
  ['remotes[0].url', { remotes: [{ type: 'sse', url: 'https://{tenant}.example' }] }],
  ['remotes[0].url', { remotes: [{ type: 'sse', url: 'https://localhost/x' }] }],
  ['remotes[0].url', { remotes: [{ type: 'sse', url: 'ftp://x' }] }],
  ['remotes[0].type', { remotes: [{ type: 'stdio' }] }],
  ['_meta.com.acme/x', { _meta: { 'com.acme/x': {} } }],
  [`_meta.${PROVIDED}`, { _meta: { [PROVIDED]: { text: 'x'.repeat(4_100) } } }],
  ['status', { status: 'active' }],
];

test('publishing: an invalid server is refused with each wrong field, and nothing is stored', async () => {
  const { publish, ask, listed } = await registry();
  const before = await listed('?include_deleted=true');
  for (const [path, fields] of BAD_SERVERS) {
    const server = aServer(fields);
    const { body } = await ask<Validation>('POST', '/v0/validate', server, '');
    assert.equal(body.valid, false, JSON.stringify(fields));
    const paths = body.issues.map((issue) => issue.path);
    assert.ok(paths.includes(path), `${JSON.stringify(fields)}: ${JSON.stringify(body.issues)}`);
    const refused = await publish(server);
    assert.equal(refused.status, 422, JSON.stringify(fields));
  }
  assert.deepEqual(await listed('?include_deleted=true'), before);
});

/** Fields that manifests share with `server.json`, checked in both formats. */
const SHARED = /^(version$|packages|remotes|icons|repository|_meta)/;

test('publishing: manifests follow the rules of server.json, also in validation', async () => {
  const { publish, ask, listed } = await registry();
  const before = await listed('?include_deleted=true');
  const manifest = { type: 'mcp_server', id: 'com.acme/notes', name: 'com.acme/notes', version: '1.0.0' };
  const shared = BAD_SERVERS.filter(([path]) => SHARED.test(path));
  assert.ok(shared.length > 20);
  for (const [path, fields] of shared) {
    const document = { ...manifest, description: 'Reads and writes notes.', ...fields };
    const { body } = await ask<Validation>('POST', '/v0/validate', document, '');
    const paths = body.issues.filter(({ severity }) => severity === 'error').map((issue) => issue.path);
    assert.ok(paths.includes(path), `${JSON.stringify(fields)}: ${JSON.stringify(body.issues)}`);
    assert.equal((await publish(document)).status, 422, JSON.stringify(fields));
  }
  assert.deepEqual(await listed('?include_deleted=true'), before);
  const internal = {
    ...manifest,
    id: 'com.acme/internal',
    name: 'com.acme/internal',
    remotes: [{ type: 'sse', url: 'http://notes.internal/sse' }],
  };
  assert.equal((await publish(internal)).status, 200, 'a warning there is a warning here');
});

test('publishing: rules of the public registry that a company may break are warnings', async () => {
  const { publish, ask } = await registry();
  const server = aServer({
    name: 'com.acme/warned',
    $schema: `${SCHEMAS}/2025-10-17/server.schema.json`,
    repository: { url: 'https://git.acme.example/notes', source: 'gitea' },
    remotes: [{ type: 'sse', url: 'http://notes.internal:8080/{tenant}', variables: { tenant: { isRequired: true } } }],
  });
  const { body } = await ask<Validation>('POST', '/v0.1/validate', server, '');
  assert.deepEqual(
    [body.valid, body.issues.map(({ path, severity }) => `${severity} ${path}`)],
    [true, ['warning schema', 'warning repository.source', 'warning remotes[0].url']],
  );
  const published = await publish(server);
  assert.deepEqual(published.body.server, { ...server, $schema: aServer().$schema });
});

test('publishing: refuses bodies that are too large, not JSON or not an object', async () => {
  const { app, ask } = await registry();
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const post = async (payload: string) =>
    (await app.inject({ method: 'POST', url: '/v0/publish', headers, payload })).statusCode;
  assert.equal(await post(JSON.stringify(aServer({ title: 'x'.repeat(5_000_000) }))), 413);
  assert.equal(await post('{'), 400);
  assert.equal(await post('[]'), 400);
  assert.equal(await post('null'), 400);
  assert.equal(await post('{"version":"1.0.0"}'), 400, 'without a name');
  assert.equal((await ask('PATCH', '/v0/servers/a%2Fb/status', { status: 'deleted', other: 1 })).status, 400);
  assert.equal((await ask('POST', '/registry/approved/v0/publish', aServer())).status, 404);
});

test('publishing: a hub token signs in; other login methods say what to do', async (t) => {
  const { ask, app } = await registry();
  const signIn = (way: string, body: object) => ask('POST', `/v0/auth/${way}`, body, '');
  assert.deepEqual((await signIn('github-at', { github_token: TOKEN })).body, { registry_token: TOKEN });
  assert.equal((await signIn('github-at', { github_token: 'hub_wrong' })).status, 401);
  for (const [way, body] of [
    ['github-at', { github_token: 'ghp_1234' }],
    ['none', {}],
    ['github-oidc', { oidc_token: 'x' }],
    ['dns', {}],
    ['http', {}],
  ] as const) {
    const { status, body: problem } = await signIn(way, body);
    assert.equal(status, 501, way);
    assert.match(String(problem.detail), /hub tokens add <name> --role publisher/);
  }
  assert.equal((await app.inject({ method: 'POST', url: '/v0/auth/none' })).statusCode, 501, 'without a body');
  const { app: open } = await testHub(t);
  assert.equal((await open.inject({ method: 'POST', url: '/v0/auth/none' })).statusCode, 200);
});

test('publishing: refuses hostile documents, with a limited number of errors', async () => {
  const { ask } = await registry();
  const nested = JSON.parse(`${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`);
  const hostile = [
    aServer({ _meta: { [PROVIDED]: nested } }),
    aServer({ remotes: [{ type: 'sse', url: `https://a/${'{'.repeat(400_000)}` }] }),
    aServer({ packages: Array.from({ length: 100_000 }, () => 0) }),
    aServer({ packages: Array.from({ length: 100_000 }, () => ({})) }),
    { ...aServer({ packages: Array.from({ length: 100_000 }, () => ({})) }), type: 'mcp_server', id: 'com.acme/notes' },
  ];
  for (const document of hostile) {
    const { status, body } = await ask<Validation>('POST', '/v0/validate', document, '');
    assert.equal(status, 200);
    assert.equal(body.valid, false);
    assert.ok(body.issues.length <= 100);
  }
  const { issues } = (await ask<Validation>('POST', '/v0/validate', hostile.at(-1), '')).body;
  assert.deepEqual(
    issues.map(({ path, message }) => ({ path, message })),
    [{ path: '', message: 'must not have more than 10000 values' }],
    'its errors are not all collected',
  );
  assert.equal((await ask('POST', '/v0/publish', aServer({ version: { toString: 1 } }))).status, 422);
});

test('publishing: a server name in a remote’s entity does not change a published status', async (t) => {
  const stranger = { type: 'mcp_server', id: 'com.acme/notes', name: 'com.victim/tool', version: '99.0.0' };
  const { ask } = await registry(testHub(t, { settings, manifests: [stranger] }));
  assert.equal((await ask('POST', '/v0/publish', aServer({ name: 'com.victim/tool' }))).status, 200);
  const changed = await ask('PATCH', '/v0/servers/com.acme%2Fnotes/status', { status: 'deleted' });
  assert.notEqual(changed.status, 200);
  const { body } = await ask<ServerResponse>('GET', '/v0/servers/com.victim%2Ftool/versions/1.0.0');
  assert.equal(body._meta[OFFICIAL]?.status, 'active');
});
