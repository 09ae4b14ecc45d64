// Registration with a real gateway, its database and real MCP servers.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { aManifest } from '../test/support/builders.ts';
import { tempDir } from '../test/support/databases/databases.ts';
import { testHub } from '../test/support/hub.ts';
import { startMcpServer } from './mcp-server.ts';
import { defineScenarios } from './scenarios.ts';
import {
  aHub,
  aServer,
  freePort,
  GATEWAY_VERSIONS,
  installGateways,
  type RealGateway,
  startGateway,
} from './support.ts';

const missing = await installGateways();
if (missing)
  process.stderr.write(`\n${'*'.repeat(80)}\n*** SKIPPED: no real gateway. ${missing}\n${'*'.repeat(80)}\n\n`);

for (const version of GATEWAY_VERSIONS) {
  describe(`gateway ${version}`, { skip: missing ?? false }, () => defineScenarios(version));
}

describe('gateway 1.0.7, in detail', { skip: missing ?? false }, () => {
  let gateway: RealGateway;
  before(async () => {
    gateway = await startGateway('1.0.7');
  });
  after(() => gateway?.stop());

  test('a sync registers servers of both transports, and their tools can be called', async (t) => {
    const server = await startMcpServer(t);
    const { hub, load, registeredAt, errorOf } = await aHub(t, gateway);
    await load(aServer('both-stream', server.mcp, 'STREAMABLEHTTP'), aServer('both-sse', server.sse, 'SSE'));

    const { synced, registered, failed } = await hub.syncRemotes();

    assert.deepEqual({ synced, registered, failed }, { synced: true, registered: 2, failed: 0 });
    for (const [name, url, transport] of [
      ['both-stream', server.mcp, 'STREAMABLEHTTP'],
      ['both-sse', server.sse, 'SSE'],
    ] as const) {
      const [row, ...others] = await gateway.rowsAt(url);
      assert.deepEqual([row?.name, row?.transport, others], [name, transport, []]);
      const tools = await gateway.call('GET', `/tools?gateway_id=${row?.id}`);
      const [tool] = tools.body as { name: string; originalName: string }[];
      assert.deepEqual([tool?.name, tool?.originalName], [`${name}-echo-text`, 'echo_text']);
      assert.equal(await echo(`${name}-echo-text`, `hello ${name}`), `hello ${name}`);
      assert.ok(await registeredAt(name));
      assert.equal(await errorOf(name), null);
    }
    assert.equal((await hub.listPending({ limit: 10, offset: 0, errorOnly: false, text: '' })).total, 0);
  });

  test('an install registers, and its report lists the calls', async (t) => {
    const server = await startMcpServer(t);
    const { hub, load, registeredAt } = await aHub(t, gateway);
    await load(aServer('installed', server.mcp, 'STREAMABLEHTTP'));
    const target = await tempDir(t);

    const { ok, results } = await hub.install({
      id: 'mcp_server:installed@1.0.0',
      target,
      dry_run: false,
      frozen: false,
    });

    assert.equal(ok, true);
    const step = results.find((result) => result.step === 'gateway.register');
    assert.equal(step?.ok, true);
    assert.match(JSON.stringify(step?.extra), /POST \/gateways/);
    assert.ok(await registeredAt('installed'));
    assert.equal(await echo('installed-echo-text', 'hello'), 'hello');
    assert.equal((await hub.syncRemotes()).registered, 0, 'a sync has nothing left to do');
  });

  test('the gateway federates the hub itself, and its search can be called through it', async (t) => {
    const { listen } = await testHub(t, { manifests: [aManifest()] });
    const url = `${await listen()}/mcp`;
    const made = await gateway.call('POST', '/v1/gateways', {
      name: 'the-hub',
      url,
      transport: 'STREAMABLEHTTP',
    });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const found = await callTool('the-hub-search-catalog', { query: 'tables in PDF files' });
    assert.match(found ?? '', /mcp_server:pdf-tables@1\.0\.0/);
  });

  test('a second sync changes nothing, and neither does a hub with an empty database', async (t) => {
    const server = await startMcpServer(t);
    const manifest = aServer('again', server.mcp, 'STREAMABLEHTTP');
    const first = await aHub(t, gateway);
    await first.load(manifest);
    await first.hub.syncRemotes();
    const before = await gateway.rowsAt(server.mcp);
    first.calls.length = 0;

    await first.load(manifest);
    assert.equal((await first.hub.syncRemotes(undefined, { force: true })).registered, 0);
    assert.deepEqual(first.calls, ['GET /v1/gateways 200']);
    const other = await aHub(t, gateway);
    await other.load(manifest);
    assert.equal((await other.hub.syncRemotes()).registered, 1);

    assert.deepEqual(other.calls, ['GET /gateways 200']);
    assert.equal(before.length, 1);
    assert.deepEqual(await gateway.rowsAt(server.mcp), before);
  });

  test('uses the versioned paths once the gateway announces them', async (t) => {
    const server = await startMcpServer(t);
    const { hub, load, calls } = await aHub(t, gateway);
    await load(aServer('versioned', server.mcp, 'STREAMABLEHTTP'));
    await hub.syncRemotes();
    assert.deepEqual(calls, ['GET /gateways 200', 'POST /v1/gateways 200']);
  });

  test('an unreachable server gets the gateway’s reason, and is registered once it is up', async (t) => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/mcp`;
    const { hub, load, errorOf, registeredAt } = await aHub(t, gateway);
    await load(aServer('down', url, 'STREAMABLEHTTP'));

    const { synced, registered, failed } = await hub.syncRemotes();
    assert.deepEqual({ synced, registered, failed }, { synced: true, registered: 0, failed: 1 });
    assert.match(String(await errorOf('down')), /answered 502: .*All connection attempts failed/);
    assert.equal(await registeredAt('down'), null);
    assert.deepEqual(await gateway.rowsAt(url), []);

    await startMcpServer(t, { port });
    assert.equal((await hub.syncRemotes(undefined, { background: true })).registered, 0, 'in the background it waits');
    assert.equal((await hub.syncRemotes()).registered, 1);
    assert.equal(await errorOf('down'), null);
    assert.equal((await gateway.rowsAt(url)).length, 1);
  });

  test('an address registered by somebody else under another name counts as registered', async (t) => {
    const server = await startMcpServer(t);
    const theirs = { name: 'theirs', url: server.mcp, transport: 'STREAMABLEHTTP' };
    const { hub, load, calls, errorOf, beforeNextPost } = await aHub(t, gateway);
    await load(aServer('ours', server.mcp, 'STREAMABLEHTTP'));
    // Between the hub's lookup and its request.
    beforeNextPost(async () => assert.equal((await gateway.call('POST', '/v1/gateways', theirs)).status, 200));

    assert.equal((await hub.syncRemotes()).registered, 1);

    assert.deepEqual(calls, ['GET /gateways 200', 'POST /v1/gateways 409', 'GET /v1/gateways 200']);
    assert.equal(await errorOf('ours'), null);
    assert.deepEqual(
      (await gateway.rowsAt(server.mcp)).map((row) => row.name),
      ['theirs'],
    );
  });

  test('the name of another server is not taken over', async (t) => {
    const [one, two] = [await startMcpServer(t), await startMcpServer(t)];
    await gateway.call('POST', '/v1/gateways', { name: 'Taken Name', url: one.mcp, transport: 'STREAMABLEHTTP' });
    const { hub, load } = await aHub(t, gateway);
    await load(aServer('taken-name', two.mcp, 'STREAMABLEHTTP'));
    assert.equal((await hub.syncRemotes()).registered, 1);
    assert.deepEqual(
      [...(await gateway.rowsAt(one.mcp)), ...(await gateway.rowsAt(two.mcp))].map((row) => row.name),
      ['Taken Name', 'taken-name-1.0.0'],
    );
  });

  test('a refused transport is sent again under its new name', async (t) => {
    const server = await startMcpServer(t);
    const { hub, load, calls } = await aHub(t, gateway);
    await load(aServer('plain-http', server.mcp, 'HTTP'));
    assert.equal((await hub.syncRemotes()).registered, 1);
    assert.deepEqual(calls, ['GET /gateways 200', 'POST /v1/gateways 422', 'POST /v1/gateways 200']);
    assert.equal((await gateway.rowsAt(server.mcp))[0]?.transport, 'STREAMABLEHTTP');
  });

  test('a wrong secret is explained, and not shown', async (t) => {
    const server = await startMcpServer(t);
    const secret = 'another-secret-than-the-one-of-the-gateway';
    const { hub, load, errorOf } = await aHub(t, gateway, { JWT_SECRET_KEY: secret });
    await load(aServer('wrong-secret', server.mcp, 'STREAMABLEHTTP'));
    const { registered, failed } = await hub.syncRemotes();
    assert.deepEqual({ registered, failed }, { registered: 0, failed: 1 });
    const error = String(await errorOf('wrong-secret'));
    assert.match(error, /answered 401: Invalid authentication credentials\. .*JWT_SECRET_KEY/);
    assert.ok(!error.includes(secret));
    assert.deepEqual(await gateway.rowsAt(server.mcp), []);
  });

  test('a hanging server is cut off in time, and leaves nothing behind', async (t) => {
    const { promise: answersAfter, resolve: wakeUp } = Promise.withResolvers<void>();
    t.after(() => wakeUp());
    const server = await startMcpServer(t, { answersAfter });
    const { hub, load, errorOf } = await aHub(t, gateway, { GATEWAY_TIMEOUT_SEC: '3' });
    await load(aServer('hangs', server.mcp, 'STREAMABLEHTTP'));

    const startedAt = Date.now();
    const { registered, failed } = await hub.syncRemotes();
    const seconds = (Date.now() - startedAt) / 1000;

    assert.deepEqual({ registered, failed }, { registered: 0, failed: 1 });
    assert.ok(seconds >= 3 && seconds < 8, `it took ${seconds} s`);
    assert.match(String(await errorOf('hangs')), /did not answer within 3 s/);
    assert.ok(server.requests() > 0);
    // The gateway must not complete its registration now that the server answers.
    wakeUp();
    await sleep(2_000);
    assert.deepEqual(await gateway.rowsAt(server.mcp), []);
    assert.equal((await hub.syncRemotes(undefined, { force: true })).registered, 1);
    assert.equal((await gateway.rowsAt(server.mcp)).length, 1);
  });

  test('a changed address is updated in place', async (t) => {
    const [old, moved] = [await startMcpServer(t), await startMcpServer(t)];
    const { hub, load, calls } = await aHub(t, gateway);
    await load(aServer('moves', old.mcp, 'STREAMABLEHTTP'));
    await hub.syncRemotes();
    const [row] = await gateway.rowsAt(old.mcp);
    calls.length = 0;

    await load(aServer('moves', moved.sse, 'SSE'));
    assert.equal((await hub.syncRemotes()).registered, 1);

    assert.deepEqual(calls, ['GET /v1/gateways 200', `PUT /v1/gateways/${row?.id} 200`]);
    const rows = await gateway.rowsAt(moved.sse);
    assert.deepEqual(
      rows.map(({ id, transport }) => ({ id, transport })),
      [{ id: row?.id, transport: 'SSE' }],
    );
    assert.deepEqual(await gateway.rowsAt(old.mcp), []);
    assert.equal(await echo('moves-echo-text', 'from there'), 'from there');
  });

  test('a changed address that is not reachable yet is retried later', async (t) => {
    const [server, port] = [await startMcpServer(t), await freePort()];
    const url = `http://127.0.0.1:${port}/mcp`;
    const { hub, load, errorOf } = await aHub(t, gateway);
    await load(aServer('moves-late', server.mcp, 'STREAMABLEHTTP'));
    await hub.syncRemotes();
    await load(aServer('moves-late', url, 'STREAMABLEHTTP'));

    assert.equal((await hub.syncRemotes()).failed, 1);
    assert.match(String(await errorOf('moves-late')), /All connection attempts failed/);
    assert.equal((await gateway.rowsAt(server.mcp)).length, 1, 'the existing server keeps working');
    await startMcpServer(t, { port });
    assert.equal((await hub.syncRemotes(undefined, { force: true })).registered, 1);
    assert.equal(await errorOf('moves-late'), null);
    assert.deepEqual([(await gateway.rowsAt(url)).length, (await gateway.rowsAt(server.mcp)).length], [1, 0]);
  });

  test('a server without an address gets an error, and no call', async (t) => {
    const { hub, load, calls, errorOf } = await aHub(t, gateway);
    const server = { name: 'local', transport: 'STDIO', exec: 'local-server' };
    await load(aManifest({ id: 'local', mcp_registration: { server } }));
    assert.equal((await hub.syncRemotes()).failed, 1);
    assert.match(String(await errorOf('local')), /runs as a local process/);
    assert.deepEqual(calls, []);
  });

  test('works with a gateway that has only versioned paths and registers in the background', async (t) => {
    const settings = { LEGACY_API_ENABLED: 'false', GATEWAY_ASYNC_LIFECYCLE_ENABLED: 'true' };
    const newer = await startGateway('1.0.7', settings);
    t.after(newer.stop);
    const server = await startMcpServer(t);
    const { hub, load, calls, errorOf } = await aHub(t, newer);
    const nobody = `http://127.0.0.1:${await freePort()}/mcp`;
    await load(aServer('promised', server.mcp, 'STREAMABLEHTTP'), aServer('broken', nobody, 'STREAMABLEHTTP'));
    const { registered, failed } = await hub.syncRemotes();
    assert.deepEqual({ registered, failed }, { registered: 1, failed: 1 }, calls.join(', '));
    assert.ok(calls.includes('POST /v1/gateways 202'), calls.join(', '));
    assert.equal((await newer.rowsAt(server.mcp))[0]?.status, 'active');
    assert.match(String(await errorOf('broken')), /All connection attempts failed/);
  });

  const echo = (tool: string, text: string) => callTool(tool, { text });

  /** Calls a tool through the gateway and returns the text of the result. */
  async function callTool(name: string, args: object): Promise<string | undefined> {
    const params = { name, arguments: args };
    const { body } = await gateway.call('POST', '/rpc', { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const { result } = body as { result?: { content?: { text?: string }[] } };
    return result?.content?.[0]?.text;
  }
});
