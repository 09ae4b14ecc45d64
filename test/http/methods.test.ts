import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { test } from 'node:test';
import { aManifest } from '../support/builders.ts';
import { testHub } from '../support/hub.ts';
import { assertProblem, exchange, inject, requestText } from './wire.ts';

const ADDRESSES = [
  '/',
  '/health',
  '/config',
  '/metrics',
  '/catalog',
  '/catalog/',
  '/catalog/manifest/mcp_server:pdf-tables',
  '/openapi.json',
  '/docs',
  '/docs/json',
  '/docs/static/swagger-ui.css',
];
/** Addresses that also accept PATCH and DELETE. */
const ENTITIES = ['/catalog/entities/mcp_server:pdf-tables@1.0.0', '/catalog/entities/tool:a/b'];

test('methods', async (t) => {
  const { app, listen } = await testHub(t, { manifests: [aManifest()] });
  const address = await listen();

  await t.test('405: lists the allowed methods without reading the body', async () => {
    const cases = [
      { urls: ADDRESSES, methods: ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY'], allowed: 'GET HEAD OPTIONS' },
      { urls: ENTITIES, methods: ['POST', 'PUT', 'TRACE', 'QUERY'], allowed: 'DELETE GET HEAD OPTIONS PATCH' },
    ] as const;
    for (const { urls, methods, allowed } of cases) {
      for (const [url, method] of urls.flatMap((each) => methods.map((verb) => [each, verb] as const))) {
        const headers = { 'content-type': 'text/plain' };
        const refused = await inject(app, { method, url, payload: 'not json', headers });
        assertProblem(refused, 'method_not_allowed');
        assert.equal(methodsOf(refused.headers.allow), allowed, `${method} ${url}`);
      }
    }
  });

  await t.test('405: for every method of Node, also those that the router does not know', async () => {
    // The listener responds to CONNECT.
    const supported = ['GET', 'HEAD', 'OPTIONS', 'CONNECT'];
    for (const method of METHODS.filter((each) => !supported.includes(each))) {
      const { status, headers } = await exchange(address, requestText(`${method} /catalog?q=x`));
      assert.equal(status, 405, method);
      assert.equal(methodsOf(headers.allow), 'GET HEAD OPTIONS');
      assert.equal((await exchange(address, requestText(`${method} /nowhere`))).status, 404, method);
    }
  });

  await t.test('405: also for encoded and whole addresses, as the router reads them', async () => {
    for (const target of ['/cat%61log', `${address}/catalog`, '/catalog/?q=a/b', '/catalog/entities/tool:a%2Fb'])
      assert.equal((await exchange(address, requestText(`PUT ${target}`))).status, 405, target);
    for (const target of ['/..', '/catalog/%2e%2e', '/catalog/x/y/z'])
      assert.equal((await exchange(address, requestText(`PUT ${target}`))).status, 404, target);
  });

  await t.test('OPTIONS: lists the allowed methods', async () => {
    for (const url of ADDRESSES) {
      const answer = await inject(app, { method: 'OPTIONS', url });
      assert.equal(answer.status, 204, url);
      assert.equal(methodsOf(answer.headers.allow), 'GET HEAD OPTIONS', url);
      assert.equal(answer.body, '');
    }
    for (const url of ENTITIES) {
      const answer = await inject(app, { method: 'OPTIONS', url });
      assert.equal(methodsOf(answer.headers.allow), 'DELETE GET HEAD OPTIONS PATCH', url);
    }
    assertProblem(await inject(app, { method: 'OPTIONS', url: '/nowhere' }), 'route_not_found');
  });

  await t.test('HEAD: has the status and headers of GET, and no body', async () => {
    const send = (line: string) => exchange(address, requestText(line));
    const addresses = [
      ...ADDRESSES,
      ...ENTITIES,
      '/nowhere',
      '/catalog?limit=0',
      '/health?check_db=1',
      '/catalog/entities/%zz',
    ];
    for (const url of addresses) {
      const [got, head] = await Promise.all([send(`GET ${url}`), send(`HEAD ${url}`)]);
      assert.equal(head.status, got.status, url);
      assert.equal(head.body, '', url);
      assert.equal(head.headers['content-type'], got.headers['content-type'], url);
      assert.equal(head.headers.etag, got.headers.etag, url);
      // Metrics change between two requests; problems contain request ids, which have a fixed length.
      if (url !== '/metrics') assert.equal(head.headers['content-length'], got.headers['content-length'], url);
    }
  });
});

function methodsOf(allow: string | undefined): string {
  return (allow ?? '').split(', ').toSorted().join(' ');
}
