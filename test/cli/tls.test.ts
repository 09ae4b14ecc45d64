import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { exchange, requestText } from '../http/wire.ts';
import { tempDir } from '../support/databases/databases.ts';
import { serve } from './process.ts';
import { inTerminal } from './terminal/in-terminal.ts';

test('TLS: with a certificate the hub serves HTTPS and sends HSTS', async (t) => {
  const { certFile, keyFile } = await selfSigned(t);
  const hub = await serve(t, { settings: { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } });
  assert.match(hub.address, /^https:\/\/127\.0\.0\.1:\d+$/);
  const ca = await readFile(certFile);
  const answer = await secureGet(`${hub.address}/health`, ca);
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.headers['strict-transport-security'], 'max-age=31536000; includeSubDomains');

  // Without TLS, the connection is dropped.
  for (const text of [requestText('GET /health'), 'hello, hub\r\n\r\n'])
    await assert.doesNotReject(exchange(hub.address, text).catch(() => undefined));
  assert.equal((await secureGet(`${hub.address}/health`, ca)).statusCode, 200);
  hub.kill('SIGTERM');
  assert.equal((await hub.ended).code, 0);
});

test('TLS: invalid certificate or key files stop the start with one line', async (t) => {
  const { certFile, keyFile, folder } = await selfSigned(t);
  const nonsense = join(folder, 'nonsense.pem');
  await writeFile(nonsense, 'nonsense');
  const other = await selfSigned(t);
  for (const [cert, key] of [
    [nonsense, keyFile],
    [certFile, nonsense],
    [keyFile, certFile],
    [certFile, other.keyFile],
  ]) {
    const { exitCode, error } = await inTerminal(['serve'], {
      environment: { TLS_CERT_FILE: cert, TLS_KEY_FILE: key, DB_PATH: join(folder, 'c.sqlite') },
      shutdown: AbortSignal.abort(),
    });
    assert.equal(exitCode, 2);
    assert.match(
      error,
      /^hub: TLS_CERT_FILE is '.*' and TLS_KEY_FILE is '.*', but they must be a certificate and its key in PEM form.*\.\n$/,
    );
  }
});

async function selfSigned(t: TestContext) {
  const folder = await tempDir(t);
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile];
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  await promisify(execFile)('openssl', ['req', '-x509', ...key, '-out', certFile, '-days', '2', ...name]);
  return { folder, certFile, keyFile };
}

function secureGet(url: string, ca: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { ca, agent: false }, (answer) => resolve(answer.resume())).once('error', reject);
  });
}
