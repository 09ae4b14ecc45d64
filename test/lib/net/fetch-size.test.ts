// How much the guarded fetch reads, compressed or not.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type IndexServer, startIndexServer } from '../../support/servers/index-server.ts';
import { failure, fetcher } from './test-fetch.ts';

test('fetch: gzip and brotli are decompressed', async (t) => {
  const host = await startIndexServer(t);
  const text = 'words and words '.repeat(100);
  for (const encoding of ['gzip', 'br'] as const) {
    host.put('/a', text, { encoding });
    assert.equal((await fetcher(t)(host.url('/a'))).body.toString(), text, encoding);
  }
  serveBytes(host, '/plain', Buffer.from(text), { 'content-encoding': 'identity' });
  assert.equal((await fetcher(t)(host.url('/plain'))).body.toString(), text);
});

test('fetch: a small body that decompresses to a huge one is refused without decompressing it', async (t) => {
  const host = await startIndexServer(t);
  const zeros = Buffer.alloc(100_000_000);
  const bombs = {
    gzip: gzipSync(zeros),
    br: brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  };
  const before = process.memoryUsage().rss;
  for (const [encoding, bomb] of Object.entries(bombs)) {
    serveBytes(host, '/bomb', bomb, { 'content-encoding': encoding });
    const error = await failure(fetcher(t)(host.url('/bomb'), { maxBytes: 1_000_000 }));
    assert.equal(error.message, 'is larger than the limit of 1000000 bytes');
    assert.equal(error.isTemporary, false);
  }
  assert.ok(process.memoryUsage().rss - before < 80_000_000);
});

test('fetch: a wrong Content-Encoding or a truncated body is an error', async (t) => {
  const host = await startIndexServer(t);
  const cut = gzipSync('words '.repeat(1000)).subarray(0, 40);
  for (const [encoding, body] of [
    ['gzip', Buffer.from('plain')],
    ['br', Buffer.from('plain')],
    ['gzip', cut],
  ] as const) {
    serveBytes(host, '/a', body, { 'content-encoding': encoding });
    assert.match((await failure(fetcher(t)(host.url('/a')))).message, /sent as broken/);
  }
  for (const encoding of ['deflate', 'zstd', 'gzip, gzip']) {
    serveBytes(host, '/a', Buffer.from('x'), { 'content-encoding': encoding });
    assert.match((await failure(fetcher(t)(host.url('/a')))).message, /which was not requested/);
  }
});

test('fetch: a body at the size limit is read, one byte more is refused, with and without a length', async (t) => {
  const host = await startIndexServer(t);
  for (const withLength of [true, false]) {
    host.answer('/fits', (_request, response) => void sendBody(response, Buffer.alloc(10_000), withLength));
    host.answer('/too-large', (_request, response) => void sendBody(response, Buffer.alloc(10_001), withLength));
    assert.equal((await fetcher(t)(host.url('/fits'))).body.length, 10_000);
    const error = await failure(fetcher(t)(host.url('/too-large')));
    assert.equal(error.message, 'is larger than the limit of 10000 bytes');
  }
});

test('fetch: an endless body is cut off', async (t) => {
  const host = await startIndexServer(t);
  let isClosed = false;
  host.answer('/endless', (_request, response) => {
    const timer = setInterval(() => response.write(Buffer.alloc(4_000)), 1);
    response.once('close', () => {
      clearInterval(timer);
      isClosed = true;
    });
  });
  assert.match((await failure(fetcher(t)(host.url('/endless')))).message, /larger than/);
  while (!isClosed) await new Promise((resolve) => setTimeout(resolve, 5));
});

function serveBytes(host: IndexServer, path: string, body: Buffer, headers: Record<string, string>): void {
  host.answer(path, (_request, response) => void response.writeHead(200, headers).end(body));
}

function sendBody(response: ServerResponse, body: Buffer, withLength: boolean): void {
  response.writeHead(200, withLength ? { 'content-length': body.length } : {});
  response.end(body);
}
