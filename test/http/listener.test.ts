import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { ErrorCode } from '../../src/errors.ts';
import type { Ending } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';
import { shared } from '../support/shared.ts';
import { type Answer, assertProblem, exchange, inject, parseAnswer, requestText } from './wire.ts';

const sharedHub = shared((t) => listeningHub(t));
const LONG = 'x'.repeat(20_000);
const JSON_BODY = { 'Content-Type': 'application/json' };

const broken: { name: string; bytes: string | Buffer; code: ErrorCode }[] = [
  { name: 'words', bytes: 'hello, hub\r\n\r\n', code: 'invalid_request' },
  { name: 'random bytes', bytes: Buffer.from([0, 255, 1, 254, 13, 10, 13, 10]), code: 'invalid_request' },
  { name: 'a TLS greeting', bytes: Buffer.from('160301020001000001fc0303', 'hex'), code: 'invalid_request' },
  { name: 'an unknown method', bytes: requestText('BREW /catalog'), code: 'invalid_request' },
  { name: 'a bare emoji in the address', bytes: requestText('GET /catalog/entities/😀'), code: 'invalid_request' },
  { name: 'another protocol', bytes: 'GET / SPDY/9\r\n\r\n', code: 'invalid_request' },
  { name: 'a header without a name', bytes: 'GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n', code: 'invalid_request' },
  { name: 'a NUL in a header', bytes: requestText('GET /', { 'X-A': 'a\u0000b' }), code: 'invalid_request' },
  {
    name: 'a length that is not a number',
    bytes: requestText('POST /bodies', { ...JSON_BODY, 'Content-Length': 'ten' }),
    code: 'invalid_request',
  },
  {
    name: 'two Content-Length headers',
    bytes: 'POST /bodies HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
    code: 'invalid_request',
  },
  {
    name: 'Content-Length with chunked encoding',
    bytes: 'POST /bodies HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    code: 'invalid_request',
  },
  {
    name: 'chunks without a size',
    bytes: requestText('POST /bodies', { ...JSON_BODY, 'Transfer-Encoding': 'chunked' }, 'zz\r\n'),
    code: 'invalid_request',
  },
  { name: 'one long header', bytes: requestText('GET /health', { 'X-Long': LONG }), code: 'headers_too_large' },
  { name: 'a flood of headers', bytes: flood(5_000), code: 'headers_too_large' },
  { name: 'a long address', bytes: requestText(`GET /${LONG}`), code: 'uri_too_long' },
];

test('unreadable requests get a clear 4xx and do not affect others', async (t) => {
  const { app, address, logged } = await sharedHub();
  const usual = securityOf(await inject(app, '/nowhere'));
  for (const { name, bytes, code } of broken) {
    await t.test(name, async () => {
      const answer = await exchange(address, bytes);
      assertProblem(answer, code);
      assert.equal(answer.headers.connection, 'close');
      assert.deepEqual(securityOf(answer), usual);
    });
  }
  assert.equal((await inject(app, '/health')).status, 200);
  assert.deepEqual(
    logged.filter(({ level }) => level === 'error'),
    [],
  );
});

function securityOf({ headers }: Answer) {
  const names = ['content-security-policy', 'referrer-policy', 'x-content-type-options', 'x-frame-options'];
  return names.map((name) => headers[name] ?? `no ${name}`);
}

test('accepts five hundred small headers', async () => {
  const { address } = await sharedHub();
  assert.equal((await exchange(address, flood(500))).status, 200);
});

const slow = [
  { name: 'headers that never end', start: 'GET /health HTTP/1.1\r\nHost: x\r\n' },
  { name: 'a body that never ends', start: requestText('POST /bodies', { ...JSON_BODY, 'Content-Length': '100' }) },
  {
    name: 'a body at an unknown address',
    start: requestText('POST /nowhere', { ...JSON_BODY, 'Content-Length': '9' }),
  },
];
test('requests that do not arrive in time are closed', { concurrency: true }, async (t) => {
  const { app, address, logged } = await listeningHub(t, { REQUEST_TIMEOUT_SEC: '1' });
  await Promise.all(
    slow.map(({ name, start }) =>
      t.test(name, async () => {
        assertProblem(await trickle(address, start), 'request_timeout');
      }),
    ),
  );
  assert.equal((await inject(app, '/health')).status, 200);
  assert.deepEqual(
    logged.filter(({ level }) => level === 'error'),
    [],
  );
});

test('a client that disconnects in the middle of a body does not affect others', async () => {
  const { app, address, logged } = await sharedHub();
  const { hostname, port } = new URL(address);
  for (const start of slow) {
    const socket = connect(Number(port), hostname);
    await new Promise((resolve) => socket.write(start.start, resolve));
    socket.resetAndDestroy();
  }
  assert.equal((await exchange(address, requestText('GET /health'))).status, 200);
  assert.equal((await inject(app, '/health')).status, 200);
  assert.deepEqual(
    logged.filter(({ level }) => level === 'error'),
    [],
  );
});

async function listeningHub(t: Ending, settings: Record<string, string> = {}) {
  const { app, listen, world } = await testHub(t, { settings });
  app.post('/bodies', { config: { isOpen: true } }, async (request) => ({ got: request.body }));
  return { app, address: await listen(), logged: world.logged };
}

function flood(count: number): string {
  const many = Array.from({ length: count }, (_, index) => [`X-${index}`, 'y']);
  return requestText('GET /health', Object.fromEntries(many));
}

/** Sends the start, then one byte at a time, until the server closes the connection. */
async function trickle(address: string, start: string) {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.on('error', () => {});
  socket.write(start);
  const drops = setInterval(() => socket.write('x'), 200);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(drops);
  return parseAnswer(received);
}
