import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { trackConnections } from '../../src/http/connections.ts';

test('connections: those that nothing was asked on are idle, and end', async (t) => {
  const { connections, open } = await aListener(t);
  const [silent, asked] = [await open(), await open()];
  asked.socket.write('GET /quick HTTP/1.1\r\nHost: x\r\n\r\n');
  await asked.answered;
  connections.endIdle();
  await Promise.all([silent.closed, asked.closed]);
});

test('connections: while a request runs, nobody who may still ask is cut off', async (t) => {
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

test('connections: in the end all of them end', async (t) => {
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
