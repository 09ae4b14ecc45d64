import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { type TestContext, test } from 'node:test';
import { createGuardedProxy, type ProxyTimes } from '../../../src/lib/net/guarded-proxy.ts';
import { createRun } from '../../../src/lib/run.ts';

test('proxy: forwards allowed requests, plain and through a tunnel', async (t) => {
  const host = await aHost(t, (_request, response) => response.writeHead(201, { 'x-from': 'host' }).end('hello'));
  const proxy = await aProxy(t, { allowPrivate: true });
  const plain = await say(proxy, `GET ${host.url}/a?b HTTP/1.1\r\nhost: ${host.name}\r\nconnection: close\r\n`);
  assert.match(plain, /^HTTP\/1\.1 201 /);
  assert.match(plain, /x-from: host/i);
  assert.match(plain, /hello/);
  assert.equal(host.asked[0], '/a?b');
  assert.equal(host.headers[0]?.['proxy-authorization'], undefined, 'its password is not forwarded');

  const inside = `GET /through HTTP/1.1\r\nhost: ${host.name}\r\nconnection: close\r\n\r\n`;
  const tunneled = await say(proxy, `CONNECT ${host.name} HTTP/1.1\r\nhost: ${host.name}\r\n`, inside);
  assert.match(tunneled, /^HTTP\/1\.1 200 /);
  assert.match(tunneled, /hello/);
  assert.equal(host.asked[1], '/through');
});

test('proxy: refuses forbidden addresses, as numbers and as names', async (t) => {
  const host = await aHost(t, (_request, response) => response.end('secret'));
  const proxy = await aProxy(t, { allowPrivate: false });
  const named = host.name.replace('127.0.0.1', 'localhost');
  for (const name of [host.name, named, `[::1]:${host.port}`, '169.254.169.254:80', `2130706433:${host.port}`]) {
    const tunneled = await say(proxy, `CONNECT ${name} HTTP/1.1\r\nhost: ${name}\r\n`);
    assert.match(tunneled, /^HTTP\/1\.1 403 .*(private or loopback|never connected to)/, name);
    const plain = await say(proxy, `GET http://${name}/ HTTP/1.1\r\nhost: ${name}\r\nconnection: close\r\n`);
    assert.match(plain, /^HTTP\/1\.1 403 .*(private or loopback|never connected to)/, name);
  }
  assert.deepEqual(host.asked, []);
});

test('proxy: always refuses metadata addresses and invalid addresses', async (t) => {
  const proxy = await aProxy(t, { allowPrivate: true });
  assert.match(await say(proxy, 'CONNECT 169.254.169.254:443 HTTP/1.1\r\nhost: x\r\n'), /^HTTP\/1\.1 403 .*never/);
  assert.match(
    await say(proxy, 'GET /not-for-a-proxy HTTP/1.1\r\nhost: x\r\nconnection: close\r\n'),
    /^HTTP\/1\.1 403 /,
  );
  assert.match(await say(proxy, 'GET ftp://a.test/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n'), /^HTTP\/1\.1 403 /);
  assert.match(await say(proxy, 'CONNECT ::::: HTTP/1.1\r\nhost: x\r\n'), /^HTTP\/1\.1 (400|403) /);
});

test('proxy: requires its password', async (t) => {
  const host = await aHost(t, (_request, response) => response.end('hello'));
  const { url, ...proxy } = await aProxy(t, { allowPrivate: true });
  const stranger = { ...proxy, url: url.replace(/\/\/.*@/, '//hub:guess@') };
  const plain = `GET ${host.url}/ HTTP/1.1\r\nhost: ${host.name}\r\nconnection: close\r\n`;
  assert.match(await say(stranger, plain), /^HTTP\/1\.1 407 /);
  assert.match(await say(stranger, `CONNECT ${host.name} HTTP/1.1\r\nhost: x\r\n`), /^HTTP\/1\.1 407 /);
  assert.deepEqual(host.asked, []);
});

test('proxy: reports an unreachable host as such', async (t) => {
  const host = await aHost(t, (_request, response) => response.end());
  const proxy = await aProxy(t, { allowPrivate: true });
  await host.close();
  const plain = `GET ${host.url}/ HTTP/1.1\r\nhost: ${host.name}\r\nconnection: close\r\n`;
  assert.match(await say(proxy, plain), /^HTTP\/1\.1 502 could not be reached \(ECONNREFUSED\)/);
  const tunneled = await say(proxy, `CONNECT ${host.name} HTTP/1.1\r\nhost: x\r\n`);
  assert.match(tunneled, /^HTTP\/1\.1 502 could not be reached \(ECONNREFUSED\)/);
});

test('proxy: whatever a host does, the client gets a response and the hub survives', async (t) => {
  const proxy = await aProxy(t, { allowPrivate: true });
  const hosts: Record<string, string | undefined> = {
    'hangs up': undefined,
    'an unknown status': 'HTTP/1.1 099 odd\r\ncontent-length: 0\r\n\r\n',
    'invalid HTTP': 'what is it\r\n\r\n',
    'another protocol': 'HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    'two lengths': 'HTTP/1.1 200 ok\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\na',
    'a control character': 'HTTP/1.1 200 ok\r\nx: \u0001\r\n\r\n',
  };
  for (const [name, says] of Object.entries(hosts)) {
    const port = await aSocketHost(t, (socket) => (says === undefined ? socket.destroy() : socket.end(says)));
    const plain = await say(proxy, `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n`);
    assert.match(plain, /^HTTP\/1\.1 502 /, name);
  }
  const trailing = 'HTTP/1.1 200 ok\r\ntrailer: x\r\ncontent-length: 2\r\n\r\nhi';
  const port = await aSocketHost(t, (socket) => socket.end(trailing));
  const plain = await say(proxy, `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n`);
  assert.match(plain, /^HTTP\/1\.1 200 [\s\S]*hi$/, 'hop-by-hop headers are not forwarded');
});

test('proxy: a silent host times out, before and inside a tunnel', async (t) => {
  const proxy = await aProxy(t, { allowPrivate: true }, { connectMs: 60_000, silenceMs: 200 });
  const port = await aSocketHost(t, () => {});
  const plain = await say(proxy, `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n`);
  assert.match(plain, /^HTTP\/1\.1 502 .*the connection was idle for too long/);
  const tunneled = await say(proxy, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nhost: x\r\n`, 'hello');
  assert.equal(tunneled, 'HTTP/1.1 200 Connection established\r\n\r\n', 'the tunnel has no bytes of the proxy');
});

test('proxy: a reset tunnel ends without output of the proxy', async (t) => {
  const proxy = await aProxy(t, { allowPrivate: true });
  const port = await aSocketHost(t, (socket) => socket.once('data', () => socket.resetAndDestroy()));
  const tunneled = await say(proxy, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nhost: x\r\n`, 'hello');
  assert.equal(tunneled, 'HTTP/1.1 200 Connection established\r\n\r\n');
});

test('proxy: a refusal closes its connection, and closing ends tunnels', async (t) => {
  const isThrough = Promise.withResolvers<unknown>();
  const port = await aSocketHost(t, (socket) => socket.once('data', isThrough.resolve));
  const proxy = createGuardedProxy({ allowPrivate: true });
  const url = await proxy.url();
  const strangers = Array.from({ length: 20 }, () => connect({ port: Number(new URL(url).port), allowHalfOpen: true }));
  for (const stranger of strangers) stranger.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nhost: x\r\n\r\n`);
  await Promise.all(strangers.map((stranger) => once(stranger.resume(), 'end')));
  for (const stranger of strangers) stranger.destroy();

  const way = { url, port: Number(new URL(url).port) };
  const tunneled = say(way, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nhost: x\r\n`, 'hello');
  await isThrough.promise;
  await proxy.close();
  assert.match(await tunneled, /^HTTP\/1\.1 200 /);
});

test('run: guarded programs use the proxy, unless the operator has one', async (t) => {
  const { url } = await aProxy(t, { allowPrivate: false });
  const PATH = process.env.PATH;
  const proxiesOf = async (environment: Record<string, string | undefined>, isGuarded: boolean) => {
    const run = createRun({ PATH, ...environment }, { url: async () => url });
    const { stdout } = await run({ program: 'env', args: [], cwd: tmpdir(), timeoutMs: 60_000, isGuarded });
    return stdout.split('\n').filter((line) => /proxy/i.test(line));
  };
  assert.deepEqual(await proxiesOf({ NO_PROXY: '*' }, false), ['NO_PROXY=*']);
  const guarded = await proxiesOf({ NO_PROXY: '*' }, true);
  assert.ok(guarded.includes(`https_proxy=${url}`) && guarded.includes(`HTTP_PROXY=${url}`), guarded.join());
  assert.ok(guarded.includes('NO_PROXY=') && guarded.includes('no_proxy='), 'NO_PROXY is empty');
  const own = await proxiesOf({ https_proxy: 'http://own.test:3128', NO_PROXY: '10.0.0.0/8' }, true);
  assert.ok(own.includes('https_proxy=http://own.test:3128') && own.includes('NO_PROXY='), own.join());
  assert.ok((await proxiesOf({ HTTP_PROXY: 'http://own.test:3128' }, true)).includes(`HTTPS_PROXY=${url}`));
});

async function aProxy(
  t: TestContext,
  rule: { allowPrivate: boolean },
  times?: ProxyTimes,
): Promise<{ url: string; port: number }> {
  const proxy = createGuardedProxy(rule, times);
  t.after(() => proxy.close());
  const url = await proxy.url();
  assert.equal(await proxy.url(), url);
  return { url, port: Number(new URL(url).port) };
}

async function aHost(t: TestContext, answer: NonNullable<Parameters<typeof createServer>[1]>) {
  const asked: string[] = [];
  const headers: NodeJS.Dict<string | string[]>[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request.url ?? '');
    headers.push(request.headers);
    answer(request, response as never);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  t.after(close);
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, name: `127.0.0.1:${port}`, port, asked, headers, close };
}

/** A host that handles a connection as the test decides. */
async function aSocketHost(t: TestContext, treat: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    treat(socket.resume());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Sends the head of a request with the password, then a body once it is answered. Returns everything received. */
async function say({ url, port }: { url: string; port: number }, head: string, afterwards?: string): Promise<string> {
  const { username, password } = new URL(url);
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  const socket = connect(port, '127.0.0.1');
  socket.setTimeout(60_000, () => socket.destroy(new Error('nothing came')));
  socket.write(`${head}proxy-authorization: Basic ${credentials}\r\n\r\n`);
  let received = '';
  for await (const chunk of socket) {
    received += chunk;
    if (afterwards !== undefined) socket.write(afterwards);
    afterwards = undefined;
  }
  return received;
}
