import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { type TestContext, test } from 'node:test';
import { createGuardedProxy } from '../../src/lib/guarded-proxy.ts';
import { createRun } from '../../src/lib/run.ts';

test('proxy: passes on what the hub may reach, plain and through a tunnel', async (t) => {
  const host = await aHost(t, (_request, response) => response.writeHead(201, { 'x-from': 'host' }).end('hello'));
  const proxy = await aProxy(t, { allowPrivate: true });
  const plain = await say(proxy, `GET ${host.url}/a?b HTTP/1.1\r\nhost: ${host.name}\r\nconnection: close\r\n`);
  assert.match(plain, /^HTTP\/1\.1 201 /);
  assert.match(plain, /x-from: host/i);
  assert.match(plain, /hello/);
  assert.equal(host.asked[0], '/a?b');
  assert.equal(host.headers[0]?.['proxy-authorization'], undefined, 'its password goes no further');

  const inside = `GET /through HTTP/1.1\r\nhost: ${host.name}\r\nconnection: close\r\n\r\n`;
  const tunnelled = await say(proxy, `CONNECT ${host.name} HTTP/1.1\r\nhost: ${host.name}\r\n`, inside);
  assert.match(tunnelled, /^HTTP\/1\.1 200 /);
  assert.match(tunnelled, /hello/);
  assert.equal(host.asked[1], '/through');
});

test('proxy: leads to no address that is forbidden, written as a number or as a name', async (t) => {
  const host = await aHost(t, (_request, response) => response.end('secret'));
  const proxy = await aProxy(t, { allowPrivate: false });
  const named = host.name.replace('127.0.0.1', 'localhost');
  for (const name of [host.name, named, `[::1]:${host.port}`, '169.254.169.254:80', `2130706433:${host.port}`]) {
    const tunnelled = await say(proxy, `CONNECT ${name} HTTP/1.1\r\nhost: ${name}\r\n`);
    assert.match(tunnelled, /^HTTP\/1\.1 403 .*(private or loopback|never connected to)/, name);
    const plain = await say(proxy, `GET http://${name}/ HTTP/1.1\r\nhost: ${name}\r\nconnection: close\r\n`);
    assert.match(plain, /^HTTP\/1\.1 403 .*(private or loopback|never connected to)/, name);
  }
  assert.deepEqual(host.asked, []);
});

test('proxy: metadata addresses are refused always, and what is no address too', async (t) => {
  const proxy = await aProxy(t, { allowPrivate: true });
  assert.match(await say(proxy, 'CONNECT 169.254.169.254:443 HTTP/1.1\r\nhost: x\r\n'), /^HTTP\/1\.1 403 .*never/);
  assert.match(
    await say(proxy, 'GET /not-for-a-proxy HTTP/1.1\r\nhost: x\r\nconnection: close\r\n'),
    /^HTTP\/1\.1 403 /,
  );
  assert.match(await say(proxy, 'GET ftp://a.test/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n'), /^HTTP\/1\.1 403 /);
  assert.match(await say(proxy, 'CONNECT ::::: HTTP/1.1\r\nhost: x\r\n'), /^HTTP\/1\.1 (400|403) /);
});

test('proxy: serves nobody without its password', async (t) => {
  const host = await aHost(t, (_request, response) => response.end('hello'));
  const { url, ...proxy } = await aProxy(t, { allowPrivate: true });
  const stranger = { ...proxy, url: url.replace(/\/\/.*@/, '//hub:guess@') };
  const plain = `GET ${host.url}/ HTTP/1.1\r\nhost: ${host.name}\r\nconnection: close\r\n`;
  assert.match(await say(stranger, plain), /^HTTP\/1\.1 407 /);
  assert.match(await say(stranger, `CONNECT ${host.name} HTTP/1.1\r\nhost: x\r\n`), /^HTTP\/1\.1 407 /);
  assert.deepEqual(host.asked, []);
});

test('proxy: a host that is away is told as that', async (t) => {
  const host = await aHost(t, (_request, response) => response.end());
  const proxy = await aProxy(t, { allowPrivate: true });
  await host.close();
  const plain = `GET ${host.url}/ HTTP/1.1\r\nhost: ${host.name}\r\nconnection: close\r\n`;
  assert.match(await say(proxy, plain), /^HTTP\/1\.1 502 could not be reached \(ECONNREFUSED\)/);
  const tunnelled = await say(proxy, `CONNECT ${host.name} HTTP/1.1\r\nhost: x\r\n`);
  assert.match(tunnelled, /^HTTP\/1\.1 502 could not be reached \(ECONNREFUSED\)/);
});

test('run: programs that are guarded are sent through the proxy, unless the operator has one', async (t) => {
  const { url } = await aProxy(t, { allowPrivate: false });
  const PATH = process.env.PATH;
  const proxiesOf = async (environment: Record<string, string | undefined>, isGuarded: boolean) => {
    const run = createRun({ PATH, ...environment }, { url: async () => url });
    const { stdout } = await run({ program: 'env', args: [], cwd: tmpdir(), timeoutMs: 5_000, isGuarded });
    return stdout.split('\n').filter((line) => /proxy/i.test(line));
  };
  assert.deepEqual(await proxiesOf({ NO_PROXY: '*' }, false), ['NO_PROXY=*']);
  const guarded = await proxiesOf({ NO_PROXY: '*' }, true);
  assert.ok(guarded.includes(`https_proxy=${url}`) && guarded.includes(`HTTP_PROXY=${url}`), guarded.join());
  assert.ok(guarded.includes('NO_PROXY=') && guarded.includes('no_proxy='), 'no host goes around it');
  assert.deepEqual(await proxiesOf({ https_proxy: 'http://own.test:3128' }, true), [
    'https_proxy=http://own.test:3128',
  ]);
});

async function aProxy(t: TestContext, rule: { allowPrivate: boolean }): Promise<{ url: string; port: number }> {
  const proxy = createGuardedProxy(rule);
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

/** The head of a request, the password added; then what is sent once it is answered. All that came back. */
async function say({ url, port }: { url: string; port: number }, head: string, afterwards?: string): Promise<string> {
  const { username, password } = new URL(url);
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  const socket = connect(port, '127.0.0.1');
  socket.setTimeout(5_000, () => socket.destroy(new Error('nothing came')));
  socket.write(`${head}proxy-authorization: Basic ${credentials}\r\n\r\n`);
  let received = '';
  for await (const chunk of socket) {
    received += chunk;
    if (afterwards !== undefined) socket.write(afterwards);
    afterwards = undefined;
  }
  return received;
}
