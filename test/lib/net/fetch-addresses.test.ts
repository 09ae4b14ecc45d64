// Which addresses the guarded fetch connects to, in any notation.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createTcpServer } from 'node:net';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { startIndexServer } from '../../support/servers/index-server.ts';
import { failure, fetcher } from './test-fetch.ts';

const LOOPBACK_BY_ANOTHER_NAME = [
  '127.0.0.1',
  '127.1',
  '127.8.8.8',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '017700000001',
  '0177.0.0.01',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::127.0.0.1]',
  '①②⑦.0.0.1',
  'localhost',
  'LOCALHOST',
  'localhost.',
  hostname(),
];
for (const name of LOOPBACK_BY_ANOTHER_NAME) {
  test(`fetch: http://${name}/ is refused unless private addresses are allowed`, async (t) => {
    const host = await startIndexServer(t);
    host.put('/a', 'inside');
    const { port } = new URL(host.origin);
    const error = await failure(fetcher(t, { allowPrivate: false })(`http://${name}:${port}/a`));
    // Not every machine has every name.
    assert.match(error.message, /ALLOW_PRIVATE_NETWORK|ENOTFOUND|EAI_AGAIN/);
    assert.equal(host.requests.length, 0);
  });
}

const NEVER_FETCHED = [
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '0251.0376.0251.0376',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::a9fe:a9fe]',
  '[fe80::1]',
  '[fd00:ec2::254]',
  '100.100.100.200',
  '168.63.129.16',
  '0.0.0.0',
  '0',
  '[::]',
  '255.255.255.255',
  '224.0.0.1',
  '[ff02::1]',
  '[2002:7f00:1::]',
  '[::127.0.0.1]',
];
for (const name of NEVER_FETCHED) {
  test(`fetch: http://${name}/ is always refused`, async (t) => {
    const error = await failure(fetcher(t)(`http://${name}/`));
    assert.match(error.message, /never connected to|metadata/);
    assert.equal(error.isTemporary, false);
  });
}

test('fetch: names are resolved, and loopback works where it is allowed', async (t) => {
  const host = await startIndexServer(t);
  host.put('/a', 'inside');
  const { port } = new URL(host.origin);
  assert.equal((await fetcher(t)(`http://localhost:${port}/a`)).body.toString(), 'inside');
});

test('fetch: an unknown name and a closed port are temporary failures', async (t) => {
  const host = await startIndexServer(t);
  const port = await closedPort();
  for (const url of ['http://no-such-name.invalid/', `http://127.0.0.1:${port}/`]) {
    const error = await failure(fetcher(t)(url));
    assert.match(error.message, /could not be reached: .+ \(E[A-Z_]+\)/);
    assert.equal(error.isTemporary, true);
  }
  assert.equal(host.requests.length, 0);
});

async function closedPort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
