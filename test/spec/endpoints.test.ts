import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyInstance, HTTPMethods } from 'fastify';
import { ROLES, type Role } from '../../src/access/contract.ts';
import { manifestFromAgentCard } from '../../src/registry/agent-card.ts';
import { SERVER_SCHEMA } from '../../src/registry/contract.ts';
import { aManifest } from '../support/builders.ts';
import { testHub } from '../support/hub.ts';
import { anAgentCard } from '../support/servers/agent-card.ts';

/** The required role. `optional`: open to all, with more for some roles; a wrong token is refused. */
type Protection = 'public' | 'optional' | Exclude<Role, 'reader'> | 'metrics';

interface Endpoint {
  method: HTTPMethods;
  path: string;
  protection: Protection;
  /** The status of a valid request; `example` is its address when the path has parameters. */
  success: number;
  example?: string;
  body?: object;
}

const TOKENS = { admin: 'token-for-admin', metrics: 'token-for-metrics' };
/** Nothing listens there. */
const WEBHOOK = { name: 'a', url: 'http://127.0.0.1:9/' };
const REGISTRIES = ['/v0.1', '/v0', '/registry/:view/v0.1', '/registry/:view/v0'];

function ofRegistry(path: string): Endpoint {
  const example = path
    .replace(':view', 'approved')
    .replace(':name', 'org.example%2Fserver')
    .replace(':version', 'latest');
  return { method: 'GET', path, protection: 'public', success: 200, example };
}

/** The writing part of the protocol, once for each prefix. */
function ofPublishing(prefix: string, index: number): Endpoint[] {
  const server = { $schema: SERVER_SCHEMA, name: 'com.acme/notes', description: 'Notes.', version: `${index}.0.0` };
  const named = `${prefix}/servers/com.acme%2Fnotes`;
  return [
    { method: 'POST', path: `${prefix}/publish`, protection: 'publisher', success: 200, body: server },
    { method: 'POST', path: `${prefix}/validate`, protection: 'public', success: 200, body: server },
    {
      method: 'PATCH',
      path: `${prefix}/servers/:name/versions/:version/status`,
      protection: 'publisher',
      success: 200,
      example: `${named}/versions/${index}.0.0/status`,
      body: { status: 'deleted' },
    },
    {
      method: 'PATCH',
      path: `${prefix}/servers/:name/status`,
      protection: 'publisher',
      success: 200,
      example: `${named}/status`,
      body: { status: 'active' },
    },
    {
      method: 'POST',
      path: `${prefix}/auth/github-at`,
      protection: 'public',
      success: 200,
      body: { github_token: TOKENS.admin },
    },
    ...SIGN_INS.map((way) => ({
      ...({ method: 'POST', path: `${prefix}/auth/${way}`, protection: 'public', success: 501 } as const),
    })),
  ];
}
const SIGN_INS = ['none', 'github-oidc', 'oidc', 'dns', 'http'];

const REMOTE = { url: 'https://catalog.example.org/index.json' };

/** Every endpoint. Add a new one here with the role that may use it. */
const ENDPOINTS: Endpoint[] = [
  { method: 'GET', path: '/', protection: 'public', success: 200 },
  { method: 'GET', path: '/openapi.yaml', protection: 'public', success: 200 },
  { method: 'GET', path: '/registry/:view/openapi.yaml', protection: 'public', success: 200 },
  { method: 'GET', path: '/robots.txt', protection: 'public', success: 200 },
  { method: 'GET', path: '/.well-known/ard.json', protection: 'public', success: 200 },
  { method: 'GET', path: '/.well-known/ai-catalog.json', protection: 'public', success: 200 },
  { method: 'POST', path: '/ard/search', protection: 'public', success: 200, body: { query: { text: 'pdf' } } },
  {
    method: 'POST',
    path: '/ard/explore',
    protection: 'public',
    success: 200,
    body: { resultType: { facets: [{ field: 'type' }] } },
  },
  { method: 'GET', path: '/ard/agents', protection: 'public', success: 200 },
  {
    method: 'GET',
    path: '/ard/agents/:identifier',
    protection: 'public',
    success: 200,
    example: '/ard/agents/urn:air:example.org:mcp:server',
  },
  {
    method: 'GET',
    path: '/catalog/card/:id',
    protection: 'public',
    success: 200,
    example: '/catalog/card/mcp_server:server@1.0.0',
  },
  {
    method: 'GET',
    path: '/catalog/agent-card/:id/.well-known/agent-card.json',
    protection: 'public',
    success: 200,
    example: '/catalog/agent-card/agent:org.example.travel%2Ftravel-planner@1.2.0/.well-known/agent-card.json',
  },
  { method: 'GET', path: '/registry', protection: 'public', success: 200 },
  { method: 'PUT', path: '/registry/:view', protection: 'operator', success: 200, example: '/registry/new', body: {} },
  { method: 'DELETE', path: '/registry/:view', protection: 'operator', success: 200, example: '/registry/new' },
  ...REGISTRIES.flatMap((prefix): Endpoint[] => [
    ofRegistry(`${prefix}/servers`),
    ...['', '/versions', '/versions/:version'].map((rest) => ofRegistry(`${prefix}/servers/:name${rest}`)),
    ...['health', 'ping', 'version'].map((rest) => ofRegistry(`${prefix}/${rest}`)),
  ]),
  ...['/v0.1', '/v0'].flatMap(ofPublishing),
  { method: 'GET', path: '/entities/:id', protection: 'public', success: 200, example: '/entities/tool:a' },
  { method: 'GET', path: '/operations', protection: 'public', success: 200 },
  { method: 'GET', path: '/catalog', protection: 'public', success: 200 },
  {
    method: 'GET',
    path: '/catalog/entities/:id',
    protection: 'public',
    success: 200,
    example: '/catalog/entities/tool:a',
  },
  {
    method: 'DELETE',
    path: '/catalog/entities/:id',
    protection: 'operator',
    success: 200,
    example: '/catalog/entities/tool:deleted@1.0.0',
  },
  {
    method: 'PATCH',
    path: '/catalog/entities/:id',
    protection: 'operator',
    success: 200,
    example: '/catalog/entities/tool:a@1.0.0',
    body: { blocked: false },
  },
  {
    method: 'GET',
    path: '/catalog/manifest/:id',
    protection: 'public',
    success: 200,
    example: '/catalog/manifest/tool:a',
  },
  {
    method: 'POST',
    path: '/catalog/install',
    protection: 'installer',
    success: 200,
    body: { id: 'tool:a', target: 'a-project', dry_run: true },
  },
  { method: 'GET', path: '/catalog/search', protection: 'public', success: 200 },
  {
    method: 'POST',
    path: '/mcp',
    protection: 'optional',
    success: 200,
    body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
  },
  { method: 'GET', path: '/config', protection: 'public', success: 200 },
  { method: 'GET', path: '/diagnostics', protection: 'operator', success: 200 },
  { method: 'GET', path: '/docs', protection: 'public', success: 200 },
  { method: 'GET', path: '/health', protection: 'public', success: 200 },
  { method: 'GET', path: '/metrics', protection: 'metrics', success: 200 },
  { method: 'GET', path: '/openapi.json', protection: 'public', success: 200 },
  { method: 'GET', path: '/ingest/status', protection: 'public', success: 200 },
  { method: 'GET', path: '/remotes/rejections', protection: 'operator', success: 200 },
  { method: 'GET', path: '/gateways/pending', protection: 'operator', success: 200 },
  { method: 'GET', path: '/gateways/registrations', protection: 'public', success: 200 },
  {
    method: 'DELETE',
    path: '/gateways/pending/:uid',
    protection: 'operator',
    success: 200,
    example: '/gateways/pending/mcp_server:a@1.0.0',
  },
  { method: 'POST', path: '/gateways/pending/delete', protection: 'operator', success: 200, body: { all: true } },
  { method: 'GET', path: '/operations/approvals', protection: 'public', success: 200 },
  { method: 'GET', path: '/operations/policy', protection: 'public', success: 200 },
  { method: 'GET', path: '/policy', protection: 'operator', success: 200 },
  { method: 'PUT', path: '/policy', protection: 'admin', success: 200, body: { text: 'version: 1\n' } },
  { method: 'POST', path: '/policy/test', protection: 'operator', success: 200, body: { id: 'tool:a' } },
  {
    method: 'POST',
    path: '/catalog/trust/:id',
    protection: 'operator',
    success: 200,
    example: '/catalog/trust/tool:a',
  },
  { method: 'GET', path: '/approvals', protection: 'operator', success: 200 },
  { method: 'GET', path: '/approvals/:id', protection: 'operator', success: 200, example: '/approvals/tool:a' },
  {
    method: 'POST',
    path: '/approvals/:id',
    protection: 'operator',
    success: 200,
    example: '/approvals/tool:a@1.0.0',
    body: { decision: 'reject', reason: 'No.' },
  },
  { method: 'GET', path: '/whoami', protection: 'optional', success: 200 },
  { method: 'GET', path: '/tokens', protection: 'admin', success: 200 },
  { method: 'POST', path: '/tokens', protection: 'admin', success: 201, body: { name: 'new', role: 'reader' } },
  { method: 'DELETE', path: '/tokens/:name', protection: 'admin', success: 200, example: '/tokens/new' },
  { method: 'GET', path: '/audit', protection: 'admin', success: 200 },
  { method: 'GET', path: '/webhooks', protection: 'admin', success: 200 },
  { method: 'POST', path: '/webhooks', protection: 'admin', success: 201, body: WEBHOOK },
  {
    method: 'GET',
    path: '/webhooks/:name/deliveries',
    protection: 'admin',
    success: 200,
    example: '/webhooks/a/deliveries',
  },
  { method: 'POST', path: '/webhooks/:name/test', protection: 'admin', success: 200, example: '/webhooks/a/test' },
  { method: 'DELETE', path: '/webhooks/:name', protection: 'admin', success: 200, example: '/webhooks/a' },
  // The second of each pair is the address that existing clients call.
  ...['', '/catalog'].flatMap((prefix): Endpoint[] => [
    { method: 'GET', path: `${prefix}/remotes`, protection: 'public', success: 200 },
    { method: 'POST', path: `${prefix}/remotes`, protection: 'operator', success: 201, body: REMOTE },
    {
      method: 'PATCH',
      path: `${prefix}/remotes`,
      protection: 'operator',
      success: 200,
      example: `${prefix}/remotes?remote=${REMOTE.url}`,
      body: { priority: 1 },
    },
    { method: 'DELETE', path: `${prefix}/remotes`, protection: 'operator', success: 200, body: REMOTE },
    { method: 'POST', path: `${prefix}/ingest`, protection: 'operator', success: 200 },
    { method: 'POST', path: `${prefix}/remotes/sync`, protection: 'operator', success: 200 },
  ]),
];

const ACCEPT = { accept: 'application/json, text/event-stream' };
const settings = { API_TOKEN: TOKENS.admin, METRICS_TOKEN: TOKENS.metrics };
const manifests = [
  ...['a', 'deleted'].map((id) => aManifest({ type: 'tool', id })),
  aManifest({ id: 'server', name: 'org.example/server' }),
  manifestFromAgentCard(anAgentCard()),
];

test('endpoints: the server has exactly those of the table, and a new one is noticed', async (t) => {
  const { app } = await testHub(t);
  app.post('/catalog/extra/:id', { config: { isOpen: true } }, async () => ({}));
  const paths = pathsOf(app);
  assert.ok(paths.includes('/catalog/extra/:id'));
  const known = paths.filter((path) => path !== '/catalog/extra/:id');
  const declared = await Promise.all(known.map(async (path) => (await methodsOf(app, path)).map(named(path))));
  const listed = ENDPOINTS.map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(declared.flat().toSorted(), listed.toSorted());
});

test('endpoints: each is open to the roles of the table, and answers as it says', async (t) => {
  const { app, hub } = await testHub(t, { settings, manifests });
  const tokens = await Promise.all(ROLES.map((role) => hub.createToken({ name: role, role, scope: [] })));
  for (const { method, path, protection, success, example = path, body } of ENDPOINTS) {
    await t.test(`${method} ${path} (${protection}) answers ${success}`, async () => {
      const openedBy = async (token?: string) => {
        const headers = token === undefined ? ACCEPT : { ...ACCEPT, authorization: `Bearer ${token}` };
        return (await app.inject({ method, url: example, headers, body })).statusCode;
      };
      const isOpen = protection === 'public' || protection === 'optional';
      const isRole = !isOpen && protection !== 'metrics';
      assert.equal(await openedBy(), isOpen ? success : 401);
      assert.equal(await openedBy(TOKENS.metrics), isRole || protection === 'optional' ? 401 : success);
      for (const { role, token } of isRole ? tokens.slice(0, ROLES.indexOf(protection)) : [])
        assert.equal(await openedBy(token), 403, role);
      assert.equal(await openedBy(TOKENS.admin), protection === 'metrics' ? 401 : success);
    });
  }
});

test('endpoints: the lowest role in the table is sufficient', async (t) => {
  const { app, hub } = await testHub(t, { settings, manifests });
  for (const { method, path, protection, success, example = path, body } of ENDPOINTS) {
    if (protection === 'public' || protection === 'optional' || protection === 'metrics') continue;
    const name = `${protection}-${method}-${path.replaceAll(/[^a-z0-9.]/g, '')}`;
    const { token } = await hub.createToken({ name, role: protection, scope: [] });
    const headers = { authorization: `Bearer ${token}` };
    const { statusCode } = await app.inject({ method, url: example, headers, body });
    assert.equal(statusCode, success, `${method} ${path}`);
  }
});

test('endpoints: with READ_ACCESS=token, only the page, its documents, health and settings are open', async (t) => {
  const { app, hub } = await testHub(t, { settings: { ...settings, READ_ACCESS: 'token' }, manifests });
  const { token } = await hub.createToken({ name: 'reader', role: 'reader', scope: [] });
  const open = [
    '/',
    '/entities/:id',
    '/operations',
    '/operations/approvals',
    '/operations/policy',
    '/docs',
    '/openapi.json',
    '/health',
    '/config',
    '/openapi.yaml',
    '/registry/:view/openapi.yaml',
    '/robots.txt',
    '/.well-known/ard.json',
    '/.well-known/ai-catalog.json',
    ...['/v0.1', '/v0'].flatMap((prefix) => [
      `${prefix}/validate`,
      ...['github-at', ...SIGN_INS].map((way) => `${prefix}/auth/${way}`),
    ]),
    ...REGISTRIES.flatMap((prefix) => ['health', 'ping', 'version'].map((rest) => `${prefix}/${rest}`)),
  ];
  for (const { method, path, protection, success, example = path, body } of ENDPOINTS) {
    if (protection !== 'public' && protection !== 'optional') continue;
    const status = async (headers: Record<string, string>) =>
      (await app.inject({ method, url: example, headers: { ...ACCEPT, ...headers }, body })).statusCode;
    assert.equal(await status({}), open.includes(path) ? success : 401, path);
    assert.equal(await status({ authorization: `Bearer ${token}` }), success, path);
  }
});

/** Fastify prints its routes only as a tree; everything under /docs, and every `*`, is a file of a page. */
function pathsOf(app: FastifyInstance): string[] {
  const parents: string[] = [];
  const paths = app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, drawing = '', part = ''] = /^([│├└─\s]*)(\S+) \(/.exec(line) ?? [];
      if (part === '') return [];
      const depth = drawing.length / 4 - 1;
      parents[depth] = `${parents[depth - 1] ?? ''}${part}`;
      return [parents[depth] ?? ''];
    });
  return paths.filter((path) => !path.endsWith('*') && !path.startsWith('/docs/'));
}

async function methodsOf(app: FastifyInstance, path: string): Promise<string[]> {
  const { headers } = await app.inject({ method: 'OPTIONS', url: path });
  return String(headers.allow)
    .split(', ')
    .filter((method) => method !== 'HEAD' && method !== 'OPTIONS');
}

function named(path: string): (method: string) => string {
  return (method) => `${method} ${path}`;
}
