import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyInstance, HTTPMethods } from 'fastify';
import { aManifest } from '../support/builders.ts';
import { testHub } from '../support/hub.ts';

/** `optional`: open to all, and does more with the admin token; a wrong one is refused. */
type Protection = 'public' | 'optional' | 'admin' | 'metrics';

interface Endpoint {
  method: HTTPMethods;
  path: string;
  protection: Protection;
  /** What a good request is answered with; `example` is its address, where the path is none. */
  success: number;
  example?: string;
  body?: object;
}

const REMOTE = { url: 'https://catalog.example.org/index.json' };

/** Every endpoint there is. Whoever adds one adds it here, and says who may use it. */
const ENDPOINTS: Endpoint[] = [
  { method: 'GET', path: '/', protection: 'public', success: 200 },
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
    protection: 'admin',
    success: 200,
    example: '/catalog/entities/tool:deleted@1.0.0',
  },
  {
    method: 'PATCH',
    path: '/catalog/entities/:id',
    protection: 'admin',
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
    protection: 'admin',
    success: 200,
    body: { id: 'tool:a', target: '.', dry_run: true },
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
  { method: 'GET', path: '/diagnostics', protection: 'admin', success: 200 },
  { method: 'GET', path: '/docs', protection: 'public', success: 200 },
  { method: 'GET', path: '/health', protection: 'public', success: 200 },
  { method: 'GET', path: '/metrics', protection: 'metrics', success: 200 },
  { method: 'GET', path: '/openapi.json', protection: 'public', success: 200 },
  { method: 'GET', path: '/ingest/status', protection: 'public', success: 200 },
  { method: 'GET', path: '/remotes/rejections', protection: 'admin', success: 200 },
  { method: 'GET', path: '/gateways/pending', protection: 'admin', success: 200 },
  {
    method: 'DELETE',
    path: '/gateways/pending/:uid',
    protection: 'admin',
    success: 200,
    example: '/gateways/pending/mcp_server:a@1.0.0',
  },
  { method: 'POST', path: '/gateways/pending/delete', protection: 'admin', success: 200, body: { all: true } },
  // The second of each pair is the address that existing clients call.
  ...['', '/catalog'].flatMap((prefix): Endpoint[] => [
    { method: 'GET', path: `${prefix}/remotes`, protection: 'public', success: 200 },
    { method: 'POST', path: `${prefix}/remotes`, protection: 'admin', success: 201, body: REMOTE },
    {
      method: 'PATCH',
      path: `${prefix}/remotes`,
      protection: 'admin',
      success: 200,
      example: `${prefix}/remotes?remote=${REMOTE.url}`,
      body: { priority: 1 },
    },
    { method: 'DELETE', path: `${prefix}/remotes`, protection: 'admin', success: 200, body: REMOTE },
    { method: 'POST', path: `${prefix}/ingest`, protection: 'admin', success: 200 },
    { method: 'POST', path: `${prefix}/remotes/sync`, protection: 'admin', success: 200 },
  ]),
];

const TOKENS = { admin: 'token-for-admin', metrics: 'token-for-metrics' };
const settings = { API_TOKEN: TOKENS.admin, METRICS_TOKEN: TOKENS.metrics };
const manifests = ['a', 'deleted'].map((id) => aManifest({ type: 'tool', id }));

test('endpoints: the server has those of the table, and no other', async (t) => {
  const { app } = await testHub(t);
  const declared = await Promise.all(pathsOf(app).map(async (path) => (await methodsOf(app, path)).map(named(path))));
  const listed = ENDPOINTS.map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(declared.flat().toSorted(), listed.toSorted());
});

test('endpoints: a new route is noticed', async (t) => {
  const { app } = await testHub(t);
  app.post('/catalog/extra/:id', async () => ({}));
  assert.ok(pathsOf(app).includes('/catalog/extra/:id'));
});

test('endpoints: each is open to whom the table says, and answers as it says', async (t) => {
  const { app } = await testHub(t, { settings, manifests });
  for (const { method, path, protection, success, example = path, body } of ENDPOINTS) {
    await t.test(`${method} ${path} is ${protection} and answers ${success}`, async () => {
      const openedBy = async (token?: string) => {
        const accept = 'application/json, text/event-stream';
        const headers = token === undefined ? { accept } : { accept, authorization: `Bearer ${token}` };
        return (await app.inject({ method, url: example, headers, body })).statusCode;
      };
      const isOpen = protection === 'public' || protection === 'optional';
      assert.equal(await openedBy(), isOpen ? success : 401);
      assert.equal(await openedBy(TOKENS.admin), protection === 'metrics' ? 401 : success);
      assert.equal(await openedBy(TOKENS.metrics), ['admin', 'optional'].includes(protection) ? 401 : success);
    });
  }
});

/** Fastify tells its routes only as a drawing; what lies under /docs, and every `*`, are files of pages. */
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
