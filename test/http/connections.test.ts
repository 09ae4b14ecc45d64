import assert from 'node:assert/strict';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { inTurn, trackConnections } from '../../src/http/connections.ts';

test('connections: keeps all connections open while a request runs', async (t) => {
  const { connections, open, isAsked, finish } = await aListener(t);
  const [silent, running] = [await open(), await open()];
  running.socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
  await isAsked;
  connections.endIdle();
  await sleep(50);
  assert.deepEqual([silent.socket.closed, running.socket.closed], [false, false]);
  finish();
  await running.answered;
  connections.endIdle();
  await Promise.all([silent.closed, running.closed]);
});

test('connections: endAll closes a connection whose request is still running', async (t) => {
  const { connections, open, isAsked } = await aListener(t);
  const running = await open();
  running.socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
  await isAsked;
  connections.endAll();
  await running.closed;
});

async function aListener(t: TestContext) {
  const waiting: ServerResponse[] = [];
  const asked = Promise.withResolvers<void>();
  const listener = createServer((request, response) => {
    if (request.url !== '/slow') return void response.end('done');
    waiting.push(response);
    asked.resolve();
  });
  const connections = trackConnections(listener);
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    connections.endAll();
    listener.close();
  });
  const { port } = listener.address() as AddressInfo;
  const finish = () => waiting.map((response) => response.end('done'));
  return { connections, open: () => openSocket(port), isAsked: asked.promise, finish };
}

async function openSocket(port: number) {
  const socket: Socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  const answered = new Promise((resolve) => socket.once('data', resolve));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await new Promise((resolve) => socket.once('connect', resolve));
  return { socket, answered, closed };
}

const ASK = 'GET /answer HTTP/1.1\r\nHost: x\r\n\r\n';

test('connections: answers pipelined requests in order', async (t) => {
  let running = 0;
  let most = 0;
  const port = await listening(
    t,
    inTurn(async (request, response) => {
      running += 1;
      most = Math.max(most, running);
      await sleep(1);
      running -= 1;
      response.end(`[${request.url}]`);
    }),
  );
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  const paths = Array.from({ length: 50 }, (_, count) => `/${count}`);
  socket.write(paths.map((path) => ASK.replace('/answer', path)).join(''));
  let text = '';
  for await (const chunk of socket) {
    text += chunk;
    if (text.includes('[/49]')) break;
  }
  assert.deepEqual(
    [...text.matchAll(/\[(.+?)\]/g)].map(([, path]) => path),
    paths,
  );
  assert.equal(most, 1);
});

test('connections: a client that does not read gets one response and is cut off', async (t) => {
  let answered = 0;
  const cutOff = Promise.withResolvers<void>();
  const port = await listening(
    t,
    inTurn(({ socket }, response) => {
      answered += 1;
      socket.once('close', () => cutOff.resolve());
      response.end(Buffer.alloc(20_000_000));
    }, 100),
  );
  const socket = connect(port, '127.0.0.1').pause();
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  socket.write(ASK.repeat(50));
  await cutOff.promise;
  assert.equal(answered, 1);
});

test('connections: closes a connection with too many pipelined requests', async (t) => {
  let answered = 0;
  const port = await listening(
    t,
    inTurn(() => {
      answered += 1;
    }),
  );
  const socket = connect(port, '127.0.0.1');
  const closed = Promise.withResolvers<void>();
  socket.on('error', () => {}).on('close', () => closed.resolve());
  socket.resume().write(ASK.repeat(1_000));
  await closed.promise;
  assert.equal(answered, 1);
});

async function listening(t: TestContext, handler: RequestListener): Promise<number> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
