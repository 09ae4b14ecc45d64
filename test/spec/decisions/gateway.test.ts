// The gateway and the catalog agree, whatever happens to either, through HTTP on both databases.
import assert from 'node:assert/strict';
import { testOnEveryEngine } from '../../support/databases.ts';
import type { FakeGateway } from '../../support/fake-gateway.ts';
import { gatewayStage, H, path, server, serverUid } from './stage.ts';

/** Calls that change something, without the version of the path and without ids. */
function writes({ lines }: FakeGateway): string[] {
  return lines({ withoutLists: true }).map((line) => line.replace('/v1', '').replace(/\/[^/]*\d[^/]*$/, '/…'));
}

for (const generation of ['0.9', '1.0.8'] as const) {
  testOnEveryEngine(`gateway ${generation}: a server that is gone from it is registered again`, async (t, address) => {
    const { register, sync, entity, registered, gateway, world } = await gatewayStage(t, address, { generation });
    await register(server('kept'), server('gone'));
    gateway.table.gateways = gateway.table.gateways.filter(({ originalName }) => originalName !== 'gone');
    world.setTime('2026-06-01T12:04:00.000Z');
    const { synced, registered: count, failed } = await sync();
    assert.deepEqual({ synced, count, failed }, { synced: true, count: 1, failed: 0 });
    assert.deepEqual(Object.keys(registered()).toSorted(), ['gone', 'kept']);
    assert.equal((await entity('gone')).gateway_registered_at, '2026-06-01T12:04:00.000Z');
    assert.equal((await entity('kept')).gateway_registered_at, '2026-06-01T12:00:00.000Z');
    assert.equal((await sync()).registered, 0);
  });

  testOnEveryEngine(`gateway ${generation}: another, empty gateway gets every server`, async (t, address) => {
    const before = await gatewayStage(t, address, { generation });
    await before.register(server('a'), server('b'));
    const after = await gatewayStage(t, address, { generation });
    const { registered, failed } = await after.sync();
    assert.deepEqual({ registered, failed }, { registered: 2, failed: 0 });
    assert.deepEqual(Object.keys(after.registered()).toSorted(), ['a', 'b']);
    assert.equal(before.gateway.table.gateways.length, 2, 'the other one keeps what it has');
  });

  testOnEveryEngine(
    `gateway ${generation}: a changed description reaches it, and only then counts`,
    async (t, address) => {
      const on = await gatewayStage(t, address, { generation });
      const { register, sync, entity, registered, gateway, host, world } = on;
      await register(server('a', {}, { summary: 'Old.' }), server('b', { description: 'Old.' }));
      assert.deepEqual([registered().a?.description, registered().b?.description], ['Old.', 'Old.']);
      world.setTime('2026-06-01T12:04:00.000Z');

      host.put('/servers/a.json', server('a', {}, { summary: 'Old.', license: 'MIT' }));
      assert.equal((await sync()).registered, 0, 'nothing in it is for the gateway');
      assert.equal((await entity('a')).gateway_registered_at, '2026-06-01T12:00:00.000Z');

      host.put('/servers/a.json', server('a', {}, { summary: 'New.' }));
      host.put('/servers/b.json', server('b', { description: 'New.' }));
      const id = gateway.table.gateways.find(({ originalName }) => originalName === 'b')?.id;
      const line = `PUT ${generation === '0.9' ? '' : '/v1'}/gateways/${id}`;
      gateway.surprise(line, { status: 400, body: { detail: 'no room' } });
      const report = await sync();
      assert.deepEqual([report.registered, report.failed], [1, 1]);
      assert.deepEqual([registered().a?.description, registered().b?.description], ['New.', 'Old.']);
      const refused = await entity('b');
      assert.equal(refused.gateway_registered_at, '2026-06-01T12:00:00.000Z', 'not updated');
      assert.match(refused.gateway_error, /no room/);
      assert.equal((await entity('a')).gateway_registered_at, '2026-06-01T12:04:00.000Z');

      assert.equal((await sync()).registered, 1);
      assert.equal(registered().b?.description, 'New.');
    },
  );
}

testOnEveryEngine('gateway: what is deleted, blocked or purged is removed from it', async (t, address) => {
  const { register, sync, ask, publish, registered } = await gatewayStage(t, address);
  await register(server('deleted'), server('blocked'), server('purged'));
  await ask('DELETE', path(serverUid('deleted')));
  assert.deepEqual(Object.keys(registered()).toSorted(), ['blocked', 'purged']);
  await ask('PATCH', path(serverUid('blocked')), { blocked: true });
  assert.deepEqual(Object.keys(registered()), ['purged']);
  const url = publish('servers', server('blocked'), server('purged'));
  await sync();
  assert.deepEqual(Object.keys(registered()), ['purged'], 'blocked servers are not registered');
  await ask('PATCH', path(serverUid('blocked')), { blocked: false });
  await sync();
  assert.deepEqual(Object.keys(registered()).toSorted(), ['blocked', 'purged']);
  await ask('DELETE', '/remotes', { url, purge: true });
  assert.deepEqual(registered(), {});
});

testOnEveryEngine(
  'gateway: a conflict that is not about the name is not answered with another name',
  async (t, address) => {
    const { register, entity, gateway } = await gatewayStage(t, address, {
      generation: '0.9',
      servers: { [`${H}/a/sse`]: { prompts: ['greet'] }, [`${H}/b/sse`]: { prompts: ['greet'] } },
      settings: { GATEWAY_CONCURRENCY: '1' },
    });
    const { registered, failed } = await register(server('a'), server('b'));
    assert.deepEqual({ registered, failed }, { registered: 1, failed: 1 });
    assert.deepEqual(writes(gateway), ['POST /gateways', 'POST /gateways']);
    assert.equal(
      (await entity('b')).gateway_error,
      'The gateway answered 409: A prompt with this name already exists. Another registered server has a prompt of the same name, and this version of the gateway accepts each only once.',
    );
  },
);

testOnEveryEngine('gateway: the headers of a server are sent to it', async (t, address) => {
  const headers = { 'X-Key': 'a-key-of-the-server' };
  const { register, registered } = await gatewayStage(t, address, { servers: { [`${H}/a/sse`]: { headers } } });
  assert.equal((await register(server('a', { headers }))).registered, 1);
  assert.deepEqual(registered().a?.auth_headers, [{ key: 'X-Key', value: 'a-key-of-the-server' }]);
});

testOnEveryEngine('gateway: a sync with a wrong token says why it stopped', async (t, address) => {
  const { register } = await gatewayStage(t, address, {
    settings: { JWT_SECRET_KEY: 'a-secret-of-another-gateway-0123456789' },
  });
  const { synced, stopped, note } = await register(server('a'));
  assert.deepEqual({ synced, stopped }, { synced: false, stopped: true });
  assert.match(
    note,
    /^Registration stopped: The gateway answered 401: .* The token is not accepted: check MCP_GATEWAY_TOKEN/,
  );
});
