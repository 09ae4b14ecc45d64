import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseAnswer } from '../http/wire.ts';
import { tempDir } from '../support/databases/databases.ts';
import { startIndexServer } from '../support/servers/index-server.ts';
import { type Running, serve } from './process.ts';

/** The hub reads the whole body before it answers 404. */
const UNFINISHED =
  'POST /nowhere HTTP/1.1\r\nHost: hub.test\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{"a":';
const REST = ' "b"}';

// Each test has its own process, so they can run concurrently.
describe('shutdown', { concurrency: 4 }, () => {
  test('SIGINT: running requests complete, new connections are refused, idle ones are closed', async (t) => {
    const hub = await serve(t);
    const idle = await open(hub);
    idle.socket.write('GET /health HTTP/1.1\r\nHost: hub.test\r\n\r\n');
    await idle.until(/"status":"ok"/);
    // Browsers open connections in advance.
    await open(hub);
    const running = await open(hub);
    running.socket.write(UNFINISHED);
    await hasArrived(hub);

    const stopped = stop(hub, 'SIGINT');
    await refused(hub);
    await idle.closed;
    running.socket.write(REST);
    const answer = parseAnswer(await running.closed);
    assert.equal(answer.status, 404);
    assert.equal(JSON.parse(answer.body).code, 'route_not_found');
    const { code, stdout } = await stopped;
    assert.equal(code, 0);
    assert.match(stdout, /POST \/nowhere 404[\s\S]*The hub has stopped/);
  });

  test('SIGTERM with DRAIN_SEC: /health answers 503, requests are served without keep-alive, and a second signal ends the hub', async (t) => {
    const hub = await serve(t, { settings: { DRAIN_SEC: '300' } });
    hub.kill('SIGTERM');
    let health = await fetch(`${hub.address}/health`);
    for (let tries = 1_000; health.status === 200 && tries > 0; tries -= 1) {
      await sleep(10);
      health = await fetch(`${hub.address}/health`);
    }
    assert.equal(health.status, 503);
    assert.equal(((await health.json()) as { status: string }).status, 'error');
    const served = await fetch(`${hub.address}/catalog/search?q=anything`);
    assert.equal(served.status, 200);
    assert.equal(served.headers.get('connection'), 'close');
    hub.kill('SIGTERM');
    assert.equal((await hub.ended).signal, 'SIGTERM');
  });

  test('SIGTERM during an install: stops the program, returns an error, and leaves nothing unfinished', async (t) => {
    const host = await startIndexServer(t);
    let isAsked = false;
    host.answer('/thing.git/info/refs', (request, response) => {
      // The hub first resolves the address; only git itself then waits.
      isAsked = request.headers['user-agent']?.startsWith('git/') ?? false;
      if (!isAsked) response.end('0000');
    });
    const target = await tempDir(t);
    const hub = await serve(t);
    const spec = { repo: host.url('/thing.git') };
    const manifest = { type: 'tool', id: 'thing', name: 'Thing', version: '1.0.0', artifacts: [{ kind: 'git', spec }] };
    const asked = fetch(`${hub.address}/catalog/install`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'tool:thing@1.0.0', target, manifest }),
    });
    for (let tries = 1_500; !isAsked; tries -= 1) {
      assert.ok(tries > 0, hub.logged());
      await sleep(20);
    }
    const stopped = stop(hub, 'SIGTERM');
    const report = (await (await asked).json()) as { ok: boolean; results: { extra: { error?: string } }[] };
    assert.equal(report.ok, false);
    assert.match(String(report.results[0]?.extra.error), /Stopped before it was finished\. Install again/);
    const { code, stdout } = await stopped;
    assert.equal(code, 0);
    assert.match(stdout, /The hub has stopped/);
    assert.deepEqual(await readdir(target), []);
  });
});

async function stop(hub: Running, signal: NodeJS.Signals) {
  hub.kill(signal);
  return await hub.ended;
}

async function open({ address }: Running) {
  const { hostname, port } = new URL(address);
  const socket: Socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  socket.on('error', () => {});
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received)));
  await new Promise((resolve) => socket.once('connect', resolve));
  const until = async (text: RegExp) => {
    while (!text.test(received)) await sleep(10);
  };
  return { socket, closed, until };
}

/** Once this is answered, everything sent before it has arrived. */
async function hasArrived({ address }: Running): Promise<void> {
  await (await fetch(`${address}/health`, { headers: { connection: 'close' } })).text();
}

/** Waits until new connections are refused. */
async function refused({ address }: Running): Promise<void> {
  for (let tries = 1_000; tries > 0; tries -= 1) {
    const wasAccepted = await fetch(`${address}/health`, { headers: { connection: 'close' } }).then(
      () => true,
      () => false,
    );
    if (!wasAccepted) return;
    await sleep(10);
  }
  assert.fail('New connections are still accepted');
}
