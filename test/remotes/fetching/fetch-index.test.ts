import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createFetch } from '../../../src/lib/net/fetch.ts';
import { FetchError } from '../../../src/lib/net/fetch-error.ts';
import {
  conditions,
  createIndexFetcher,
  type IndexFetcher,
  type IndexPage,
} from '../../../src/remotes/fetching/fetch-index.ts';
import { mainThreadShare } from '../../support/in-time.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';

const TASK = { remote: 'http://h.example/index.json', signal: new AbortController().signal };
const UNKNOWN = { etag: null, lastModified: null, changesSince: null, goneThroughAt: null, isSelfContained: false };

function indexFetcher(t: TestContext, maxIndexBytes = 100_000_000): IndexFetcher {
  const { fetch, close } = createFetch({ allowPrivate: true });
  const fetcher = createIndexFetcher({ fetch, maxIndexBytes, timeoutMs: 20_000 });
  t.after(async () => {
    await fetcher.close();
    await close();
  });
  return fetcher;
}

async function entriesOf(page: IndexPage): Promise<{ url: string }[]> {
  return (await Array.fromAsync(page.chunks())).flat();
}

test('index: yields its entries repeatedly, and its validators', async (t) => {
  const host = await startIndexServer(t);
  const manifest = { type: 'tool', id: 'a', version: '1', readme: '"quoted" \ud83d\ude00' };
  host.put('/i.json', { manifests: ['a.json'], items: [{ manifest }] });
  const page = await indexFetcher(t).page(host.url('/i.json'), TASK);
  const expected = [
    { url: host.url('/a.json') },
    { url: host.url('/i.json#tool/a/1'), text: JSON.stringify(manifest) },
  ];
  assert.deepEqual(await entriesOf(page), expected);
  assert.deepEqual(await entriesOf(page), expected);
  assert.match(page.state.etag ?? '', /^"/);
  assert.equal(page.state.lastModified, null);
});

test('index: reports unchanged only when validators were sent', async (t) => {
  const host = await startIndexServer(t);
  const fetcher = indexFetcher(t);
  host.put('/i.json', []);
  const { state } = await fetcher.page(host.url('/i.json'), TASK);
  assert.equal(await fetcher.changed(host.url('/i.json'), { ...UNKNOWN, ...state }, TASK), undefined);
  assert.ok(await fetcher.changed(host.url('/i.json'), UNKNOWN, TASK));
  assert.ok(await fetcher.changed(host.url('/i.json'), { ...UNKNOWN, etag: '"other"' }, TASK));
  host.fail('/i.json', { status: 304, times: 1 });
  await assert.rejects(fetcher.page(host.url('/i.json'), TASK), /answered 304/);
});

test('index: omits validators that must not be sent back', () => {
  assert.deepEqual(conditions({ etag: '"a"', lastModified: 'Mon, 01 Jan 2026 00:00:00 GMT' }), {
    'if-none-match': '"a"',
    'if-modified-since': 'Mon, 01 Jan 2026 00:00:00 GMT',
  });
  for (const odd of ['', '"\u00e4"', '"\u4e2d"', '"a\r\nx: y"', 'x'.repeat(2000), null, undefined]) {
    assert.deepEqual(conditions({ etag: odd, lastModified: odd }), {});
  }
});

test('index: one byte over the limit is refused, compressed or not', async (t) => {
  const host = await startIndexServer(t);
  const fetcher = indexFetcher(t, 5_000);
  const text = JSON.stringify(['x'.repeat(5_000 - 4)]);
  host.put('/fits.json', text);
  host.put('/large.json', `${text} `);
  host.put('/packed.json', `${text}${' '.repeat(100_000)}`, { encoding: 'gzip' });
  assert.equal((await entriesOf(await fetcher.page(host.url('/fits.json'), TASK))).length, 1);
  for (const path of ['/large.json', '/packed.json']) {
    await assert.rejects(fetcher.page(host.url(path), TASK), (error: unknown) => {
      assert.ok(error instanceof FetchError);
      assert.equal(error.message, 'is larger than the limit of 5000 bytes');
      return true;
    });
  }
});

test('index: a stop during parsing takes effect at once', async (t) => {
  const host = await startIndexServer(t);
  // YAML is slow to parse.
  host.put('/i.yaml', `manifests:\n${'  - {path: a, base_url: b}\n'.repeat(200_000)}`);
  await assert.rejects(indexFetcher(t).page(host.url('/i.yaml'), { ...TASK, signal: AbortSignal.timeout(700) }));
});

test('index: 100,000 entries, listed twice, do not block the main thread', async (t) => {
  const host = await startIndexServer(t);
  const paths = Array.from({ length: 100_000 }, (_, number) => `servers/some-server-${number}/manifest.json`);
  const items = paths.map((path, number) => ({
    manifest_path: path,
    status: 'active',
    kind: 'mcp_server',
    title: `Some server number ${number}`,
    generated_at: '2026-07-01T00:00:00Z',
  }));
  const body = Buffer.from(JSON.stringify({ counts: { all: paths.length }, manifests: paths, items }));
  host.put('/i.json', body);
  const fetcher = indexFetcher(t);

  let count = 0;
  const share = await mainThreadShare(async () => {
    const page = await fetcher.page(host.url('/i.json'), TASK);
    for await (const chunk of page.chunks()) count += chunk.length;
  });
  assert.equal(count, 100_000);
  assert.ok(share < 0.5, `${share}`);
});

test('index: large inline manifests reach the main thread a few at a time', async (t) => {
  const host = await startIndexServer(t);
  const items = Array.from({ length: 40 }, (_, id) => ({
    manifest: { type: 'tool', id: `${id}`, version: '1', readme: 'x'.repeat(100_000) },
  }));
  host.put('/i.json', { items });
  const page = await indexFetcher(t).page(host.url('/i.json'), TASK);
  const sizes = (await Array.fromAsync(page.chunks())).map((chunk) => chunk.length);
  assert.equal(
    sizes.reduce((sum, size) => sum + size),
    40,
  );
  assert.ok(Math.max(...sizes) <= 3, `${sizes}`);
});
