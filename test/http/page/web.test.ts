import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fastify } from 'fastify';
import { pagePolicy } from '../../../src/http/page/page-policy.ts';
import { answerNotFound, FIRST_LIST, webPage } from '../../../src/http/page/web.ts';
import { hubParameters, readSearch } from '../../../web/src/search/search-url.ts';
import { aManifest } from '../../support/builders.ts';
import { testHub } from '../../support/hub.ts';
import { assertProblem, inject } from '../wire.ts';

const PACKED = 'stands for what the build packs';
const PAGE = '<!doctype html><title>the page</title>';

test('page: served at its own addresses and never from a cache', async (t) => {
  const app = await builtPage(t);
  for (const url of ['/', '/?q=pdf', '/operations', '/entities/tool:a@1.0.0', '/entities/tool%3Aa%40b%2Fc']) {
    const answer = await inject(app, url);
    assert.equal(answer.status, 200, url);
    assert.match(answer.headers['content-type'] ?? '', /^text\/html/);
    assert.equal(answer.headers['cache-control'], 'no-cache');
    assert.equal(answer.body, PAGE);
    const again = await inject(app, { url, headers: { 'if-none-match': answer.headers.etag ?? '' } });
    assert.equal(again.status, 304, url);
  }
});

test('page: preloads its first request where that request is certain', async (t) => {
  const app = await builtPage(t);
  const link = async (url: string) => (await inject(app, url)).headers.link;
  const preload = `<${FIRST_LIST}>; rel=preload; as=fetch; crossorigin=anonymous`;
  assert.equal(await link('/'), `</.well-known/ard.json>; rel=ard, ${preload}`);
  for (const url of ['/?q=pdf', '/operations', '/entities/tool:a@1.0.0']) assert.equal(await link(url), undefined, url);
  assert.equal(
    FIRST_LIST,
    `/catalog/search?${hubParameters(readSearch(new URLSearchParams()))}`,
    'the request of the page',
  );
});

test('page: assets are cached forever, and a missing asset is 404', async (t) => {
  const app = await builtPage(t);
  const asset = await inject(app, '/assets/index-abc123.js');
  assert.equal(asset.status, 200);
  assert.match(asset.headers['content-type'] ?? '', /javascript/);
  assert.equal(asset.headers['cache-control'], 'public, max-age=31536000, immutable');
  for (const url of ['/assets/gone.js', '/assets/..%2findex.html', '/index.html']) {
    assert.equal((await inject(app, url)).status, 404, url);
  }
});

test('page: a running build does not break open pages', async (t) => {
  const app = await builtPage(t, (folder) => rm(join(folder, 'assets'), { recursive: true }));
  assert.equal((await inject(app, '/')).body, PAGE);
  assert.equal((await inject(app, '/assets/index-abc123.js')).body, 'export {};');
});

test('page: a precompressed asset is sent as it is to clients that accept it', async (t) => {
  const app = await builtPage(t);
  const asked = (encoding: string) =>
    inject(app, { url: '/assets/index-abc123.js', headers: { 'accept-encoding': encoding } });
  const packed = await asked('gzip, br');
  assert.deepEqual([packed.headers['content-encoding'], packed.body], ['br', PACKED]);
  assert.match(packed.headers['content-type'] ?? '', /javascript/);
  for (const encoding of ['identity', 'gzip', 'gzip, br;q=0', 'br;q=0.0, gzip']) {
    const plain = await asked(encoding);
    assert.deepEqual([plain.headers['content-encoding'], plain.body], [undefined, 'export {};'], encoding);
  }
  assert.equal((await asked('gzip;q=0.5, br;q=0.9')).body, PACKED);
});

test('page: its policy allows only its own files, and remote images only on request', async (t) => {
  const app = await builtPage(t);
  const policy = async (url: string) => (await inject(app, url)).headers['content-security-policy'] ?? '';
  for (const url of ['/', '/operations', '/entities/tool:a', '/entities/tool:a?images=yes']) {
    assert.equal(await policy(url), pagePolicy({ remoteImages: false }), url);
  }
  const usual = await policy('/');
  assert.match(
    usual,
    /default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'/,
  );
  assert.match(usual, /require-trusted-types-for 'script'/);
  assert.doesNotMatch(usual, /unsafe|https?:|data:|\*/);
  assert.match(await policy('/entities/tool:a?images=remote'), /script-src 'self'; .*img-src 'self' https:;/);
});

test('page: without a build, the hub works and its address says what to run', async (t) => {
  const app = fastify();
  t.after(() => app.close());
  webPage(app, { folder: join(tmpdir(), 'no-such-folder-for-a-page') });
  for (const url of ['/', '/operations', '/entities/tool:a']) {
    const answer = await inject(app, url);
    assert.equal(answer.status, 200);
    assert.match(answer.headers['content-type'] ?? '', /^text\/plain/);
    assert.match(answer.body, /npm run build:page/);
    assert.match(answer.body, /\/docs/);
  }
});

test('page: API addresses and their 404s stay as they are', async (t) => {
  const { app } = await testHub(t, { manifests: [aManifest({ type: 'tool', id: 'a/b' })] });
  for (const url of ['/catalog/entities/tool:none', '/catalog/entities/tool:none@1']) {
    assertProblem(await inject(app, url), 'entity_not_found');
  }
  for (const url of [
    '/nowhere',
    '/entities',
    '/entities/',
    '/catalog/nowhere',
    '/operations/more',
    '/assets/none.js',
  ]) {
    assertProblem(await inject(app, url), 'route_not_found');
    assertProblem(await inject(app, { url, headers: { accept: 'application/json' } }), 'route_not_found');
  }
  const posted = { method: 'POST', url: '/nowhere', headers: { accept: 'text/html' } } as const;
  assertProblem(await inject(app, posted), 'route_not_found');
  assert.equal((await inject(app, '/entities/tool:a/b@1.0.0')).status, 200, 'ids may contain slashes');
  assert.equal((await inject(app, '/catalog/entities/tool:a/b@1.0.0')).status, 200);
  assert.doesNotMatch((await inject(app, '/catalog')).headers['content-security-policy'] ?? '', /script-src/);
});

test('page: a browser gets the page for an unknown address, with status 404', async (t) => {
  const app = await builtPage(t);
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
  for (const url of ['/nowhere', '/catalog/nowhere', '/entities', '/operations/more?x=1']) {
    const answer = await inject(app, { url, headers: { accept } });
    assert.deepEqual([answer.status, answer.body], [404, PAGE], url);
    assert.match(answer.headers['content-type'] ?? '', /^text\/html/);
    assert.equal(answer.headers['content-security-policy'], pagePolicy({ remoteImages: false }));
  }
  assertProblem(await inject(app, { url: '/assets/none.js', headers: { accept } }), 'route_not_found');
});

/** A server with only a page, as vite builds it. */
async function builtPage(t: TestContext, then?: (folder: string) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), 'hub-page-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), PAGE);
  await writeFile(join(folder, 'assets', 'index-abc123.js'), 'export {};');
  await writeFile(join(folder, 'assets', 'index-abc123.js.br'), PACKED);
  const app = fastify();
  webPage(app, { folder });
  app.setNotFoundHandler(answerNotFound(folder));
  await then?.(folder);
  t.after(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });
  return app;
}
