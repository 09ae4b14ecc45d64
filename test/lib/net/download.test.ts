// Downloads: the file, its digests, limits on size, time and silence, and refused addresses.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createDownload } from '../../../src/lib/net/download.ts';
import { FetchError } from '../../../src/lib/net/fetch-error.ts';
import type { DownloadRequest } from '../../../src/lib/world.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';

async function downloader(t: TestContext, { allowPrivate = true, stallMs = 5_000 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'hub-download-'));
  const guarded = createDownload({ allowPrivate }, { stallMs });
  t.after(async () => {
    await guarded.close();
    await rm(folder, { recursive: true });
  });
  const file = join(folder, 'file');
  const download = (url: string, some: Partial<DownloadRequest> = {}) =>
    guarded.download({ url, file, maxBytes: 10_000_000, timeoutMs: 60_000, ...some });
  return { ...guarded, file, download };
}

async function failure(work: Promise<unknown>): Promise<FetchError> {
  const error = await work.then(
    () => assert.fail('the download completed'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof FetchError, String(error));
  return error;
}

test('download: the file has the sent bytes, and the reply their digests', async (t) => {
  const host = await startIndexServer(t);
  const { download, file } = await downloader(t);
  const content = randomBytes(3_000_000);
  host.put('/real', content);
  host.redirect('/a', '/real');
  const reply = await download(host.url('/a'));
  assert.deepEqual([reply.status, reply.url, reply.bytes], [200, host.url('/real'), content.length]);
  assert.equal(reply.sha256, createHash('sha256').update(content).digest('hex'));
  assert.ok(content.equals(await readFile(file)));
});

test('download: bytes are stored as published, even when the host declares them compressed', async (t) => {
  const host = await startIndexServer(t);
  const { download, file } = await downloader(t);
  const content = gzipSync('text');
  host.answer(
    '/a.tgz',
    (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(content),
  );
  await download(host.url('/a.tgz'));
  assert.ok(content.equals(await readFile(file)));
  assert.equal(host.seen('/a.tgz')[0]?.headers['accept-encoding'], 'identity');
});

test('download: a status other than 2xx is a reply and does not change the file', async (t) => {
  const host = await startIndexServer(t);
  const { download, file } = await downloader(t);
  await writeFile(file, 'before');
  const reply = await download(host.url('/nothing'));
  assert.deepEqual([reply.status, reply.bytes, await readFile(file, 'utf8')], [404, 0, 'before']);
});

test('download: stops at the limit, whether the size is announced or not', async (t) => {
  const host = await startIndexServer(t);
  const { download } = await downloader(t);
  host.put('/announced', Buffer.alloc(2_000));
  host.answer('/silent', (_request, response) => void response.write(Buffer.alloc(2_000), () => response.end()));
  for (const path of ['/announced', '/silent']) {
    const error = await failure(download(host.url(path), { maxBytes: 1_999 }));
    assert.match(error.message, /larger than the limit of 1999 bytes/);
    assert.equal((await download(host.url(path), { maxBytes: 2_000 })).bytes, 2_000);
  }
});

test('download: stops when it takes too long or falls silent', async (t) => {
  const host = await startIndexServer(t);
  host.answer('/drip', (_request, response) => {
    const timer = setInterval(() => response.write('x'), 20);
    response.once('close', () => clearInterval(timer));
  });
  host.answer('/silence', (_request, response) => void response.write('x'));
  host.answer('/never', () => {});
  const patient = await downloader(t);
  const drip = patient.download(host.url('/drip'), { timeoutMs: 500 });
  assert.match((await failure(drip)).message, /not complete within 0.5 s/);
  const { download } = await downloader(t, { stallMs: 300 });
  for (const path of ['/silence', '/never']) {
    const error = await failure(download(host.url(path)));
    assert.deepEqual([error.message, error.isTimeout], ['sent nothing for 0.3 s', true]);
  }
});

test('download: a signal stops it, before and while it runs', async (t) => {
  const host = await startIndexServer(t);
  host.answer('/drip', (_request, response) => void response.write('x'));
  const { download } = await downloader(t);
  assert.equal((await failure(download(host.url('/drip'), { signal: AbortSignal.abort() }))).message, 'was stopped');
  const signal = AbortSignal.timeout(100);
  assert.equal((await failure(download(host.url('/drip'), { signal }))).message, 'was stopped');
});

test('download: a connection that ends early is an error that may pass', async (t) => {
  const host = await startIndexServer(t);
  const { download } = await downloader(t);
  host.answer('/a', (_request, response) => {
    response.writeHead(200, { 'content-length': 500_000 });
    response.write(randomBytes(200_000), () => response.destroy());
  });
  assert.equal((await failure(download(host.url('/a')))).isTemporary, true);
});

test('download: forbidden addresses are refused, also after a redirect', async (t) => {
  const host = await startIndexServer(t);
  host.redirect('/a', 'http://169.254.169.254/latest');
  const { download } = await downloader(t);
  assert.match((await failure(download(host.url('/a')))).message, /^is not allowed: \S+ is in .* never connected to/);
  assert.match((await failure(download('file:///etc/passwd'))).message, /only http and https/);
  const strict = await downloader(t, { allowPrivate: false });
  host.put('/b', 'x');
  assert.match((await failure(strict.download(host.url('/b')))).message, /private or loopback/);
  const { port } = new URL(host.origin);
  assert.match((await failure(strict.download(`http://localhost:${port}/b`))).message, /private or loopback/);
  assert.equal(host.seen('/b').length, 0);
});

test('download: an unwritable file is not reported as an error of the host', async (t) => {
  const host = await startIndexServer(t);
  const { download, file } = await downloader(t);
  host.put('/a', 'x');
  await assert.rejects(download(host.url('/a'), { file: join(file, 'below', 'nothing') }), { code: 'ENOENT' });
});

test('vetAddress: checks names and numbers of any scheme', async (t) => {
  const { vetAddress } = await downloader(t, { allowPrivate: false });
  for (const url of [
    'http://127.0.0.1/',
    'https://localhost/x',
    'ssh://git@10.0.0.1/x',
    'http://[::1]/',
    'http://0x7f000001/',
  ]) {
    assert.match((await failure(vetAddress(url))).message, /private or loopback/, url);
  }
  assert.match((await failure(vetAddress('http://169.254.169.254/'))).message, /never/);
  for (const url of ['', 'nonsense', 'file:///etc', 'http://'])
    assert.equal((await failure(vetAddress(url))).message, 'is not a readable address');
  await vetAddress('https://93.184.216.34/');
  assert.match((await failure(vetAddress('https://no-such-host.invalid/'))).message, /could not be reached/);
  const lenient = await downloader(t);
  await lenient.vetAddress('http://localhost:8080/');
  assert.match((await failure(lenient.vetAddress('http://169.254.169.254/'))).message, /never/);
});
