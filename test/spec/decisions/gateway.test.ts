// The gateway and the catalog agree whatever happens to either, through HTTP.
import assert from 'node:assert/strict';
import { aFolder } from '../../install/installing.ts';
import { syncingProcess } from '../../remotes/syncing.ts';
import { testOnEveryEngine } from '../../support/databases/databases.ts';
import { createRow } from '../../support/servers/fake-gateway/rows.ts';
import { type FakeGateway, SECRET } from '../../support/servers/fake-gateway.ts';
import { until } from '../../support/until.ts';
import { gatewayStage, H, path, server, serverUid, testOnSqlite } from './stage.ts';

/** Calls that change something, without the version of the path and ids. */
function writes({ lines }: FakeGateway): string[] {
  return lines({ withoutLists: true }).map((line) => line.replace('/v1', '').replace(/\/[^/]*\d[^/]*$/, '/…'));
}

for (const generation of ['0.9', '1.0.8'] as const) {
  testOnSqlite(`gateway ${generation}: a server deleted there is registered again`, async (t, address) => {
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

  testOnSqlite(`gateway ${generation}: a changed description is sent, and then counted`, async (t, address) => {
    const on = await gatewayStage(t, address, { generation });
    const { register, sync, entity, registered, gateway, host, world } = on;
    await register(server('a', {}, { summary: 'Old.' }), server('b', { description: 'Old.' }));
    assert.deepEqual([registered().a?.description, registered().b?.description], ['Old.', 'Old.']);
    world.setTime('2026-06-01T12:04:00.000Z');

    host.put('/servers/a.json', server('a', {}, { summary: 'Old.', license: 'MIT' }));
    assert.equal((await sync()).registered, 0, 'nothing in it concerns the gateway');
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
  });
}

testOnSqlite('gateway: a new, empty gateway gets every server', async (t, address) => {
  const before = await gatewayStage(t, address);
  await before.register(server('a'), server('b'));
  const after = await gatewayStage(t, address);
  const { registered, failed } = await after.sync();
  assert.deepEqual({ registered, failed }, { registered: 2, failed: 0 });
  assert.deepEqual(Object.keys(after.registered()).toSorted(), ['a', 'b']);
  assert.equal(before.gateway.table.gateways.length, 2, 'the other gateway keeps its servers');
});

testOnEveryEngine('gateway: deleted, blocked and purged entities are removed from it', async (t, address) => {
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

testOnSqlite('gateway: the same gateway at another address is recognized', async (t, address) => {
  const before = await gatewayStage(t, address);
  await before.register(server('a'));
  const settings = { MCP_GATEWAY_URL: before.gateway.url.replace('127.0.0.1', 'localhost') };
  const after = await gatewayStage(t, address, { settings });
  const { registered, note } = await after.sync();
  assert.deepEqual({ registered, note }, { registered: 0, note: undefined });
  await after.ask('DELETE', path(serverUid('a')));
  assert.deepEqual(before.registered(), {});
});

testOnSqlite('gateway: a server registered by somebody else stays, and is reported', async (t, address) => {
  const { register, ask, gateway, registered } = await gatewayStage(t, address);
  for (const name of ['blocked', 'deleted'])
    gateway.table.gateways.push(createRow(`by-hand-${name}`, { url: `${H}/${name}/sse`, transport: 'SSE' }));
  await register(server('blocked'), server('deleted'), server('own'));
  const stays = (name: string) =>
    `The gateway still has 'by-hand-${name}', which this hub did not create. Remove it there if it is no longer wanted.`;
  const blocked = await ask('PATCH', path(serverUid('blocked')), { blocked: true });
  assert.equal(blocked.body.note, stays('blocked'));
  assert.equal((await ask('DELETE', path(serverUid('deleted')))).body.note, stays('deleted'));
  assert.equal((await ask('DELETE', path(serverUid('own')))).body.note, undefined);
  assert.deepEqual(Object.keys(registered()).toSorted(), ['by-hand-blocked', 'by-hand-deleted']);
});

testOnSqlite('gateway: a registration that ends after the time limit belongs to the hub', async (t, address) => {
  const { register, sync, ask, gateway, registered, host } = await gatewayStage(t, address, {
    settings: { GATEWAY_TIMEOUT_SEC: '1' },
  });
  const held = Promise.withResolvers<void>();
  gateway.onCall(({ method }) => (method === 'POST' ? held.promise : undefined));
  assert.equal((await register(server('updated', { description: 'Old.' }), server('removed'))).failed, 2);
  gateway.onCall(undefined);
  held.resolve();
  await until(() => Object.keys(registered()).length === 2);
  host.put('/servers/updated.json', server('updated', { description: 'New.' }));

  const { registered: count, failed } = await sync();
  assert.deepEqual([count, failed], [2, 0]);
  assert.equal(registered().updated?.description, 'New.');
  assert.equal((await ask('DELETE', path(serverUid('removed')))).body.note, undefined);
  assert.deepEqual(Object.keys(registered()), ['updated']);
});

testOnSqlite(
  'gateway: a registration that ends after its entity is deleted or blocked is undone',
  async (t, address) => {
    const { register, sync, ask, publish, gateway, registered } = await gatewayStage(t, address, {
      settings: { GATEWAY_TIMEOUT_SEC: '1' },
    });
    const held = Promise.withResolvers<void>();
    gateway.onCall(({ method }) => (method === 'POST' ? held.promise : undefined));
    assert.equal((await register(server('deleted'), server('blocked'))).failed, 2);
    const awaited = (...names: string[]) =>
      `The gateway may still create ${names.join(', ')}: it has not answered the request yet. Sync again later to remove what it creates.`;
    const { body } = await ask('DELETE', path(serverUid('deleted')));
    assert.equal(body.note, awaited("'deleted'"));
    await ask('PATCH', path(serverUid('blocked')), { blocked: true });
    publish('servers', server('blocked'));
    assert.equal((await sync()).note, awaited("'blocked'", "'deleted'"));

    gateway.onCall(undefined);
    held.resolve();
    await until(() => Object.keys(registered()).length === 2);
    assert.equal((await sync()).note, undefined);
    assert.deepEqual(registered(), {});
  },
);

testOnSqlite('gateway: a late registration stays if another version uses it', async (t, address) => {
  const { register, sync, ask, publish, gateway, registered } = await gatewayStage(t, address, {
    settings: { GATEWAY_TIMEOUT_SEC: '1', INSTALL_ROOT: await aFolder(t) },
  });
  const held = Promise.withResolvers<void>();
  gateway.onCall(({ method }) => (method === 'POST' ? held.promise : undefined));
  await register(server('a'));
  await ask('DELETE', path(serverUid('a')));
  gateway.onCall(undefined);
  held.resolve();
  await until(() => Object.keys(registered()).length === 1);
  const other = server('a', {}, { version: '2.0.0' });
  await ask('POST', '/catalog/install', { id: 'mcp_server:a@2.0.0', target: 'a', manifest: other });
  publish('servers', other);
  await sync();
  assert.deepEqual(Object.keys(registered()), ['a']);
  await ask('DELETE', path('mcp_server:a@2.0.0'));
  assert.deepEqual(registered(), {}, 'it was created by this hub');
});

testOnSqlite('gateway: a registration that never ended is given up', async (t, address) => {
  const { register, sync, ask, publish, gateway, world, registered } = await gatewayStage(t, address, {
    settings: { GATEWAY_TIMEOUT_SEC: '1' },
  });
  gateway.onCall(({ method }) => (method === 'POST' ? new Promise(() => {}) : undefined));
  await register(server('a'));
  await ask('DELETE', path(serverUid('a')));
  publish('servers');
  world.setTime('2026-06-01T13:01:00.000Z');
  assert.equal((await sync()).note, undefined);
  gateway.table.gateways.push(createRow('a', { url: `${H}/a/sse`, transport: 'SSE' }));
  await sync();
  assert.deepEqual(Object.keys(registered()), ['a'], 'another client created it');
});

testOnEveryEngine('gateway: a killed hub’s servers are retried by the next sync', async (t, address) => {
  const { ask, publish, gateway, registered } = await gatewayStage(t, address);
  await ask('POST', '/remotes', { url: publish('servers', server('a'), server('b')) });
  const called = Promise.withResolvers<void>();
  gateway.onCall(({ method }) => {
    if (method !== 'POST') return;
    called.resolve();
    return new Promise(() => {});
  });
  const other = syncingProcess(t);
  other.start(address, { MCP_GATEWAY_URL: gateway.url, JWT_SECRET_KEY: SECRET });
  await called.promise;
  const sync = () => ask('POST', '/remotes/sync', {});
  assert.equal((await sync()).body.code, 'sync_running', 'another hub is syncing');

  assert.equal(await other.kill(), 'SIGKILL');
  gateway.onCall(undefined);
  let answer = await sync();
  // A database may notice a moment later that the process has ended.
  await until(async () => {
    if (answer.status !== 200) answer = await sync();
    return answer.status === 200;
  });
  const { synced, registered: count, failed } = answer.body;
  assert.deepEqual({ synced, count, failed }, { synced: true, count: 2, failed: 0 });
  assert.deepEqual(Object.keys(registered()).toSorted(), ['a', 'b']);
});

testOnSqlite(
  'gateway: what a killed hub requested belongs to it, and is removed with its entity',
  async (t, address) => {
    const { ask, publish, gateway, registered } = await gatewayStage(t, address);
    await ask('POST', '/remotes', { url: publish('servers', server('a')) });
    const called = Promise.withResolvers<void>();
    gateway.onCall(({ method }) => {
      if (method !== 'POST') return;
      called.resolve();
      return new Promise(() => {});
    });
    const other = syncingProcess(t);
    other.start(address, { MCP_GATEWAY_URL: gateway.url, JWT_SECRET_KEY: SECRET });
    await called.promise;
    await other.kill();
    gateway.onCall(undefined);
    gateway.table.gateways.push(createRow('a', { url: `${H}/a/sse`, transport: 'SSE' }));

    await ask('PATCH', `/catalog/entities/${encodeURIComponent('mcp_server:a@1.0.0')}`, { blocked: true });
    await until(async () => (await ask('POST', '/remotes/sync', {})).status === 200);
    assert.deepEqual(Object.keys(registered()), []);
  },
);

testOnSqlite('gateway: a conflict that is not about the name is not retried with another name', async (t, address) => {
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
});

testOnSqlite('gateway: the headers of a server are sent to it', async (t, address) => {
  const headers = { 'X-Key': 'a-key-of-the-server' };
  const { register, registered } = await gatewayStage(t, address, { servers: { [`${H}/a/sse`]: { headers } } });
  assert.equal((await register(server('a', { headers }))).registered, 1);
  assert.deepEqual(registered().a?.auth_headers, [{ key: 'X-Key', value: 'a-key-of-the-server' }]);
});

testOnSqlite('gateway: a sync with a wrong token says why it stopped', async (t, address) => {
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
