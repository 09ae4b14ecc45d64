import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testHub } from '../support/hub.ts';
import { type Answer, inject } from './wire.ts';

const ELSEWHERE = /(?:https?:)?\/\/(?!www\.w3\.org\/)[\w-]+\.[\w.-]+/;

test('/docs', async (t) => {
  const { app } = await testHub(t);

  await t.test('serves the page and all its assets from the hub', async () => {
    const page = await inject(app, '/docs');
    assert.equal(page.status, 200);
    assert.match(page.headers['content-type'] ?? '', /^text\/html/);
    const assets = [...page.body.matchAll(/\b(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
    assert.ok(assets.length >= 5);
    for (const path of assets) {
      assert.match(path, /^\/docs\/static\/(?:theme\/)?[\w.-]+$/);
      const asset = await inject(app, path);
      assert.equal(asset.status, 200, path);
      assert.match(asset.headers['content-type'] ?? '', path.endsWith('.js') ? /javascript/ : /css|png/);
      if (path.endsWith('.css')) assert.deepEqual(addressesIn(asset.body), []);
      assertOwnPolicy(asset);
    }
    assertOwnPolicy(page);
    assert.doesNotMatch(page.body, ELSEWHERE);
  });

  await t.test('its policy allows its own scripts and needs no inline scripts', async () => {
    const page = await inject(app, '/docs');
    const policy = policyOf(page);
    assert.deepEqual(policy['script-src'], ["'self'"]);
    assert.deepEqual(policy['style-src'], ["'self'"]);
    assert.deepEqual(policy['connect-src'], ["'self'"]);
    assert.deepEqual(policy['default-src'], ["'none'"]);
    assert.doesNotMatch(page.body, /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/i);
    // Over plain HTTP it would send the browser to an HTTPS port that nothing listens on.
    assert.equal('upgrade-insecure-requests' in policy, false);
  });

  await t.test('loads the document from this hub and calls no validator', async () => {
    const { body } = await inject(app, '/docs/static/swagger-initializer.js');
    assert.match(body, /url: resolveUrl\('\.\/json'\)/);
    assert.match(body, /"validatorUrl":\s*null/);
    assert.doesNotMatch(body.replaceAll(/^\s*\/\/.*$/gm, ''), ELSEWHERE);
    const [shown, published] = await Promise.all([inject(app, '/docs/json'), inject(app, '/openapi.json')]);
    assert.equal(shown.body, published.body);
  });

  await t.test('its policy applies only to /docs; other responses may load nothing', async () => {
    for (const url of ['/openapi.json', '/catalog', '/nowhere', '/health']) {
      const policy = policyOf(await inject(app, url));
      assert.deepEqual(policy['default-src'], ["'none'"]);
      assert.equal('script-src' in policy, false, url);
    }
  });
});

test('/openapi.json: suits generated clients', async (t) => {
  const { app } = await testHub(t);
  const { paths }: { paths: Record<string, Record<string, Operation>> } = JSON.parse(
    (await inject(app, '/openapi.json')).body,
  );
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    // Errors that occur before routing.
    for (const status of [408, 414, 431]) assert.ok(operation.responses[status], `${operation.operationId}: ${status}`);
    const schema = operation.requestBody?.content['application/json']?.schema;
    const types = schema?.anyOf?.map(({ type }) => type) ?? [];
    assert.equal(types.includes('null'), false, operation.operationId);
  }
});

interface Operation {
  operationId: string;
  responses: Record<number, object>;
  requestBody?: { content: Record<string, { schema: { anyOf?: { type?: string }[] } }> };
}

/** The URLs that a style sheet loads, without data URLs and the page's own files. */
function addressesIn(css: string): string[] {
  const loaded = [...css.matchAll(/(?:url\(|@import)\s*["']?([^"')]+)/g)].map(([, address = '']) => address);
  return loaded.filter((address) => !address.startsWith('data:') && !address.startsWith('/assets/'));
}

function policyOf({ headers }: Answer): Record<string, string[]> {
  const directives = (headers['content-security-policy'] ?? '').split(';').filter((part) => part.trim() !== '');
  return Object.fromEntries(
    directives.map((part) => part.trim().split(' ')).map(([name, ...values]) => [name, values]),
  );
}

function assertOwnPolicy(answer: Answer): void {
  const sources = Object.values(policyOf(answer)).flat();
  assert.ok(sources.length > 0);
  assert.deepEqual(
    sources.filter((source) => !["'self'", "'none'", 'data:'].includes(source)),
    [],
  );
}
