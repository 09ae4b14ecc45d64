// The operator's proxies: which requests use them, and what is still refused.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { createDownload } from '../../../src/lib/net/download.ts';
import { createFetch } from '../../../src/lib/net/fetch.ts';
import { proxiesOf } from '../../../src/lib/net/proxies.ts';
import { tempDir } from '../../support/databases/databases.ts';
import { startForwardProxy } from '../../support/servers/forward-proxy.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';

const PROXY = 'http://proxy.example:3128';
const CASES: [environment: Record<string, string>, url: string, proxy: string | undefined][] = [
  [{}, 'https://a.example/', undefined],
  [{ HTTPS_PROXY: PROXY }, 'https://a.example/', PROXY],
  [{ https_proxy: PROXY }, 'https://a.example/', PROXY],
  [{ HTTPS_PROXY: 'proxy.example:3128' }, 'https://a.example/', PROXY],
  [{ HTTPS_PROXY: PROXY }, 'http://a.example/', undefined],
  [{ ALL_PROXY: PROXY }, 'http://a.example/', PROXY],
  [{ ALL_PROXY: 'socks5://proxy.example:1080' }, 'http://a.example/', undefined],
  [{ HTTPS_PROXY: '' }, 'https://a.example/', undefined],
  [{ HTTP_PROXY: PROXY }, 'http://localhost:4444/', undefined],
  [{ HTTP_PROXY: PROXY }, 'http://[::1]:4444/', undefined],
  [{ HTTPS_PROXY: PROXY, NO_PROXY: 'a.example' }, 'https://a.example/', undefined],
  [{ HTTPS_PROXY: PROXY, NO_PROXY: '.a.example' }, 'https://b.a.example/', undefined],
  [{ HTTPS_PROXY: PROXY, NO_PROXY: 'x, *.a.example' }, 'https://b.a.example/', undefined],
  [{ HTTPS_PROXY: PROXY, NO_PROXY: 'a.example' }, 'https://not-a.example/', PROXY],
  [{ HTTPS_PROXY: PROXY, NO_PROXY: 'a.example:8443' }, 'https://a.example/', PROXY],
  [{ HTTPS_PROXY: PROXY, NO_PROXY: 'a.example:443' }, 'https://a.example/', undefined],
  [{ HTTPS_PROXY: PROXY, NO_PROXY: '10.0.0.0/8' }, 'https://10.1.2.3/', undefined],
  [{ HTTPS_PROXY: PROXY, NO_PROXY: '10.0.0.0/8' }, 'https://11.1.2.3/', PROXY],
  [{ HTTPS_PROXY: PROXY, NO_PROXY: '2001:db8::1' }, 'https://[2001:db8::1]/', undefined],
  [{ HTTPS_PROXY: PROXY, NO_PROXY: '*' }, 'https://a.example/', undefined],
];

for (const [environment, url, proxy] of CASES)
  test(`proxy: ${url} uses ${proxy ?? 'no proxy'} with ${JSON.stringify(environment)}`, () => {
    assert.equal(proxiesOf(environment)(new URL(url)), proxy);
  });

test('proxy: requests and downloads use it, for names that only it can resolve', async (t) => {
  const host = await startIndexServer(t);
  host.put('/index.json', { items: [] });
  host.redirect('/old', 'http://other.example/index.json');
  const proxy = await startForwardProxy(t, Number(new URL(host.origin).port));
  const proxyFor = proxiesOf({ HTTP_PROXY: proxy.url });
  const { fetch, close } = createFetch({ allowPrivate: false }, proxyFor);
  const downloads = createDownload({ allowPrivate: false }, { proxyFor });
  t.after(() => Promise.all([close(), downloads.close()]));
  const limits = { maxBytes: 1_000, timeoutMs: 60_000 };

  const reply = await fetch({ url: 'http://catalog.example/old', ...limits });
  assert.deepEqual([reply.status, reply.url], [200, 'http://other.example/index.json']);
  const file = join(await tempDir(t), 'file');
  assert.equal((await downloads.download({ url: 'http://catalog.example/index.json', file, ...limits })).status, 200);
  assert.deepEqual(await downloads.vetAddress('http://catalog.example/'), []);
  assert.deepEqual(proxy.requests, [
    'GET http://catalog.example/old',
    'GET http://other.example/index.json',
    'GET http://catalog.example/index.json',
  ]);
});

test('proxy: private addresses and metadata services are refused before it is used', async (t) => {
  const proxy = await startForwardProxy(t, 9);
  const proxyFor = proxiesOf({ ALL_PROXY: proxy.url });
  const { fetch, close } = createFetch({ allowPrivate: false }, proxyFor);
  const downloads = createDownload({ allowPrivate: false }, { proxyFor });
  t.after(() => Promise.all([close(), downloads.close()]));
  for (const url of ['http://10.0.0.1/', 'https://169.254.169.254/latest', 'https://[fd00:ec2::254]/']) {
    const expected = /private or loopback|never connected to|metadata/;
    await assert.rejects(fetch({ url, maxBytes: 100, timeoutMs: 60_000 }), expected);
    await assert.rejects(downloads.vetAddress(url), expected);
  }
  assert.deepEqual(proxy.requests, []);
});

test('proxy: its refusals are reported as such', async (t) => {
  const server = createServer().on('connect', (_request, client) => client.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const proxy = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { fetch, close } = createFetch({ allowPrivate: false }, proxiesOf({ HTTPS_PROXY: proxy }));
  t.after(close);
  const refused = fetch({ url: 'https://catalog.example/', maxBytes: 100, timeoutMs: 60_000 });
  await assert.rejects(refused, { message: 'was refused by the proxy (status 403)' });
});

test('proxy: encrypted requests use a tunnel', async (t) => {
  const host = await startIndexServer(t);
  const proxy = await startForwardProxy(t, Number(new URL(host.origin).port));
  const { fetch, close } = createFetch({ allowPrivate: false }, proxiesOf({ HTTPS_PROXY: proxy.url }));
  t.after(close);
  // The host does not speak TLS: only the route counts.
  await assert.rejects(fetch({ url: 'https://catalog.example/', maxBytes: 100, timeoutMs: 60_000 }));
  assert.deepEqual(proxy.requests.slice(0, 1), ['CONNECT catalog.example:443']);
});
