// What must be true for a hub and a gateway of any version: after each sync both agree.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { JsonObject } from '../src/lib/json.ts';
import { aManifest } from '../test/support/builders.ts';
import { startMcpServer } from './mcp-server.ts';
import { aHub, aServer, type GatewayHub, type GatewayVersion, type RealGateway, startGateway } from './support.ts';

const KINDS = ['gateways', 'tools', 'resources', 'prompts'] as const;

export function defineScenarios(version: GatewayVersion): void {
  let gateway: RealGateway;
  before(async () => {
    gateway = await startGateway(version);
  });
  after(() => gateway?.stop());

  test('a server deleted in the gateway is registered again', async (t) => {
    const [kept, deleted] = [await startMcpServer(t), await startMcpServer(t)];
    const on = await aHub(t, gateway);
    await on.load(aServer('kept', kept.mcp, 'STREAMABLEHTTP'), aServer('deleted', deleted.sse, 'SSE'));
    await assertSync(on, { registered: 2, failed: 0 });
    const [row] = await gateway.rowsAt(deleted.sse);
    assert.equal((await gateway.call('DELETE', `/gateways/${row?.id}`)).status, 200);
    await assertSync(on, { registered: 1, failed: 0 });
    await assertAgreement(on, gateway, { kept: kept.mcp, deleted: deleted.sse });
    await assertSync(on, { registered: 0, failed: 0 });
  });

  test('a new, empty gateway gets everything, and the first one keeps what it has', async (t) => {
    const [one, two] = [await startMcpServer(t), await startMcpServer(t)];
    const first = await aHub(t, gateway);
    await first.load(
      aServer('one', one.mcp, 'STREAMABLEHTTP'),
      withParts('two', two.mcp, { tool: { name: 'moved_tool', url: 'http://localhost:1/tool', request_type: 'GET' } }),
    );
    await assertSync(first, { registered: 2, failed: 0 });
    await first.hub.close();
    const emptyGateway = await startGateway(version);
    t.after(emptyGateway.stop);
    const second = await aHub(t, emptyGateway, {}, first.database);
    await assertSync(second, { registered: 2, failed: 0 });
    await assertAgreement(second, emptyGateway, { one: one.mcp, two: two.mcp });
    assert.ok((await emptyGateway.list('tools')).some((tool) => tool.originalName === 'moved_tool'));
    await assertSync(second, { registered: 0, failed: 0 });

    await second.hub.removeEntity('mcp_server:two@1.0.0');
    assert.deepEqual(await emptyGateway.rowsAt(two.mcp), []);
    assert.equal((await gateway.rowsAt(two.mcp)).length, 1, 'the first gateway keeps it');
  });

  test('a changed description, header and name reach the gateway, once', async (t) => {
    const [one, other] = [await startMcpServer(t), await startMcpServer(t)];
    const on = await aHub(t, gateway);
    const changing = (server: JsonObject) => aServer('changing', one.mcp, 'STREAMABLEHTTP', server);
    await on.load(
      changing({ description: 'First words.', headers: { 'X-Key': 'first' } }),
      aServer('unchanged', other.mcp, 'STREAMABLEHTTP'),
    );
    await assertSync(on, { registered: 2, failed: 0 });
    assert.equal(one.lastHeader('x-key'), 'first');
    await on.load(changing({ description: 'Second words.', headers: { 'X-Key': 'second' }, name: 'changed' }));
    await assertSync(on, { registered: 1, failed: 0 });
    const [row] = await gateway.rowsAt(one.mcp);
    assert.deepEqual([row?.name, row?.description], ['changed', 'Second words.']);
    assert.equal(one.lastHeader('x-key'), 'second');
    await assertSync(on, { registered: 0, failed: 0 });
  });

  test('a change arrives although the tools of the server changed too', async (t) => {
    const [one, two] = [
      await startMcpServer(t, { tool: 'first_tool' }),
      await startMcpServer(t, { tool: 'second_tool' }),
    ];
    const on = await aHub(t, gateway);
    const headers = { 'X-Key': 'first' };
    await on.load(aServer('moving', one.mcp, 'STREAMABLEHTTP', { description: 'First words.', headers }));
    await assertSync(on, { registered: 1, failed: 0 });
    const moved = { description: 'Second words.', name: 'moved', headers: { 'X-Key': 'second' } };
    await on.load(aServer('moving', two.mcp, 'STREAMABLEHTTP', moved));
    await assertSync(on, { registered: 1, failed: 0 });
    assert.deepEqual(await gateway.rowsAt(one.mcp), []);
    const [row] = await gateway.rowsAt(two.mcp);
    assert.deepEqual([row?.name, row?.description], ['moved', 'Second words.']);
    assert.equal(two.lastHeader('x-key'), 'second');
    await on.load(aServer('moving', two.mcp, 'STREAMABLEHTTP', { description: 'Third words.', name: 'moved' }));
    await assertSync(on, { registered: 1, failed: 0 });
    assert.deepEqual(
      (await gateway.rowsAt(two.mcp)).map(({ description }) => description),
      ['Third words.'],
    );
    assert.equal(two.lastHeader('x-key'), '', 'a removed header is no longer sent');
    await assertSync(on, { registered: 0, failed: 0 });
  });

  test('a removed entity leaves nothing in the gateway', async (t) => {
    const server = await startMcpServer(t);
    const on = await aHub(t, gateway);
    const before = await everything(gateway);
    await on.load(
      withParts('removed', server.mcp, {
        tool: { name: 'removed_tool', url: 'http://localhost:1/tool', request_type: 'GET' },
        resources: [
          { uri: 'memo://removed', name: 'removed memo', content: 'Hello.' },
          { uri: 'memo://removed-template', uri_template: 'memo://{id}', name: 'removed template', content: '' },
        ],
        prompts: [{ name: 'removed prompt', template: 'Hello' }],
      }),
    );
    await assertSync(on, { registered: 1, failed: 0 });
    // Including its discovered tool; 0.9.0 lists the template among the resources.
    assert.ok((await everything(gateway)).length >= before.length + 5);
    await assertSync(on, { registered: 0, failed: 0 }, 'the template is not missed');
    assert.equal((await on.hub.removeEntity('mcp_server:removed@1.0.0')).note, undefined);
    assert.deepEqual(await everything(gateway), before, 'at once');
    await assertSync(on, { registered: 0, failed: 0 });
  });

  test('a blocked server leaves the gateway, and comes back when the block is lifted', async (t) => {
    const server = await startMcpServer(t);
    const on = await aHub(t, gateway);
    await on.load(aServer('blocked', server.mcp, 'STREAMABLEHTTP'));
    await assertSync(on, { registered: 1, failed: 0 });
    const uid = 'mcp_server:blocked@1.0.0';
    assert.equal((await on.hub.blockEntity(uid, 'Not for us.')).gateway_registered_at, null);
    assert.deepEqual(await gateway.rowsAt(server.mcp), []);
    await assertSync(on, { registered: 0, failed: 0 });
    await on.hub.unblockEntity(uid);
    await assertSync(on, { registered: 1, failed: 0 });
    await assertAgreement(on, gateway, { blocked: server.mcp });
  });

  test('a part that left its manifest is deleted, and a changed one updated', async (t) => {
    const server = await startMcpServer(t);
    const on = await aHub(t, gateway);
    const prompt = { name: 'kept prompt', template: 'Hello' };
    const resources = [{ uri: 'memo://dropped', name: 'dropped memo', content: 'Hello.' }];
    await on.load(withParts('parts', server.mcp, { resources, prompts: [prompt] }));
    await assertSync(on, { registered: 1, failed: 0 });
    await on.load(withParts('parts', server.mcp, { prompts: [{ ...prompt, description: 'Greets.' }] }));
    await assertSync(on, { registered: 1, failed: 0 });
    assert.ok(!(await gateway.list('resources')).some((row) => row.uri === 'memo://dropped'));
    const prompts = await gateway.list('prompts');
    assert.ok(
      prompts.some((row) => row.description === 'Greets.'),
      JSON.stringify(prompts),
    );
    await assertSync(on, { registered: 0, failed: 0 });
  });

  test('two servers share one prompt', async (t) => {
    const prompts = ['summarize'];
    const [one, two] = [await startMcpServer(t, { prompts }), await startMcpServer(t, { prompts })];
    const on = await aHub(t, gateway, { GATEWAY_CONCURRENCY: '1' });
    await on.load(aServer('prompt-one', one.mcp, 'STREAMABLEHTTP'), aServer('prompt-two', two.mcp, 'STREAMABLEHTTP'));
    if (version !== '0.9.0') return assertSync(on, { registered: 2, failed: 0 });
    await assertSync(on, { registered: 1, failed: 1 });
    const error = (await on.errorOf('prompt-one')) ?? (await on.errorOf('prompt-two'));
    assert.match(String(error), /409: A prompt with this name already exists\. Another registered server has a prompt/);
    assert.equal(on.calls.filter((call) => call.startsWith('POST')).length, 2, on.calls.join());
  });

  test('a wrong token is reported, even when nothing is due', async (t) => {
    const server = await startMcpServer(t);
    const on = await aHub(t, gateway);
    await on.load(aServer('wrong-token', server.mcp, 'STREAMABLEHTTP'));
    await assertSync(on, { registered: 1, failed: 0 });
    await on.hub.close();
    const wrong = await aHub(
      t,
      gateway,
      { JWT_SECRET_KEY: 'another-secret-than-the-gateway-has-0123456789' },
      on.database,
    );
    const { synced, note } = await wrong.hub.syncRemotes();
    assert.equal(synced, false);
    assert.match(note ?? '', /^Registration stopped: The gateway answered 401: .*JWT_SECRET_KEY/);
    await assertAgreement(wrong, gateway, { 'wrong-token': server.mcp });
  });
}

async function assertSync({ hub, calls }: GatewayHub, expected: object, why?: string): Promise<void> {
  calls.length = 0;
  const { synced, registered, failed, note } = await hub.syncRemotes();
  assert.equal(synced, true, note);
  const page = await hub.listPending({ limit: 10, offset: 0, errorOnly: false, text: '' });
  const errors = page.items.map(({ gateway_error }) => gateway_error).join(' ');
  assert.deepEqual({ registered, failed }, expected, `${why ?? ''} ${errors} ${calls.join(', ')}`);
}

/** Asserts that each is registered, and that the gateway has it once. */
async function assertAgreement(on: GatewayHub, gateway: RealGateway, urls: Record<string, string>): Promise<void> {
  for (const [id, url] of Object.entries(urls)) {
    assert.ok(await on.registeredAt(id), `${id} is registered`);
    assert.equal(await on.errorOf(id), null);
    assert.equal((await gateway.rowsAt(url)).length, 1, `${id} is in the gateway`);
  }
}

function withParts(id: string, url: string, parts: JsonObject): JsonObject {
  return aManifest({
    id,
    name: id,
    mcp_registration: { server: { name: id, url, transport: 'STREAMABLEHTTP' }, ...parts },
  });
}

async function everything(gateway: RealGateway): Promise<string[]> {
  const lists = await Promise.all(
    KINDS.map(async (kind) => (await gateway.list(kind)).map(({ id }) => `${kind} ${id}`)),
  );
  return lists.flat().toSorted();
}
