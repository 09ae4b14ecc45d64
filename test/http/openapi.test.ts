import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testHub } from '../support/hub.ts';
import { type Answer, inject } from './wire.ts';

const ELSEWHERE = /(?:https?:)?\/\/(?!www\.w3\.org\/)[\w-]+\.[\w.-]+/;

test('/docs', async (t) => {
  const { app } = await testHub(t);

  await t.test('the page and all it loads come from the hub', async () => {
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

  await t.test('its policy lets its own scripts run, and needs no inline ones', async () => {
    const page = await inject(app, '/docs');
    const policy = policyOf(page);
    assert.deepEqual(policy['script-src'], ["'self'"]);
    assert.deepEqual(policy['style-src'], ["'self'"]);
    assert.deepEqual(policy['connect-src'], ["'self'"]);
    assert.deepEqual(policy['default-src'], ["'none'"]);
    assert.doesNotMatch(page.body, /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/i);
    // Over plain HTTP it would send the browser to an HTTPS that is not there.
    assert.equal('upgrade-insecure-requests' in policy, false);
  });

  await t.test('what it starts with asks this hub for the document, and nobody whether it is valid', async () => {
    const { body } = await inject(app, '/docs/static/swagger-initializer.js');
    assert.match(body, /url: resolveUrl\('\.\/json'\)/);
    assert.match(body, /"validatorUrl":\s*null/);
    assert.doesNotMatch(body.replaceAll(/^\s*\/\/.*$/gm, ''), ELSEWHERE);
    const [shown, published] = await Promise.all([inject(app, '/docs/json'), inject(app, '/openapi.json')]);
    assert.equal(shown.body, published.body);
  });

  await t.test('its policy is for itself; everything else may load nothing', async () => {
    for (const url of ['/openapi.json', '/catalog', '/nowhere', '/health']) {
      const policy = policyOf(await inject(app, url));
      assert.deepEqual(policy['default-src'], ["'none'"]);
      assert.equal('script-src' in policy, false, url);
    }
  });
});

/** What a style sheet would load; pictures that are part of it do not count. */
function addressesIn(css: string): string[] {
  const loaded = [...css.matchAll(/(?:url\(|@import)\s*["']?([^"')]+)/g)].map(([, address = '']) => address);
  return loaded.filter((address) => !address.startsWith('data:'));
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
