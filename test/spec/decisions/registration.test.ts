// Decisions about registration and pending servers, through HTTP.
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/lib/json.ts';
import { testOnEveryEngine } from '../../support/databases/databases.ts';
import { gatewayStage, H, path, server, serverUid, stage, testOnSqlite } from './stage.ts';

const STDIO = { transport: 'STDIO', url: undefined, exec: { cmd: ['npx', 'local'] } };

testOnEveryEngine('registration: an explicit sync retries pending servers at once', async (t, address) => {
  const { register, sync, ask, hub, gateway, world, registered } = await gatewayStage(t, address, {
    servers: { [`${H}/down/sse`]: { fault: 'refused' } },
    settings: { INGEST_INTERVAL_MIN: '60' },
  });
  const pending = async () => (await ask('GET', '/gateways/pending?limit=10')).body.items;
  const tries = async () =>
    Object.fromEntries((await pending()).map((item: { name: string; tries: number }) => [item.name, item.tries]));
  /** The background sync has no endpoint. */
  const syncInBackground = () => hub.syncRemotes(undefined, { background: true });

  const first = await register(server('good'), server('down'), server('local', STDIO));
  assert.deepEqual([first.registered, first.failed], [1, 2]);
  const [down] = (await pending()).filter(({ name }: { name: string }) => name === 'down');
  assert.equal(down.next_try_at, '2026-06-01T12:05:00.000Z');

  assert.equal((await syncInBackground()).failed, 0, 'it waits until next_try_at');
  assert.deepEqual(await tries(), { down: 1, local: 1 });
  assert.equal((await sync()).failed, 1, 'an explicit sync does not wait');
  assert.deepEqual(await tries(), { down: 2, local: 1 }, 'without an address it is not tried');
  world.setTime('2026-06-01T13:00:00.000Z');
  assert.equal((await syncInBackground()).failed, 1);
  assert.deepEqual(await tries(), { down: 3, local: 1 });

  assert.equal((await sync({ force: true })).failed, 2);
  assert.deepEqual(await tries(), { down: 4, local: 2 }, 'force includes those without an address');
  gateway.servers.delete(`${H}/down/sse`);
  assert.deepEqual([(await sync()).registered, await tries()], [1, { local: 2 }]);
  assert.deepEqual(Object.keys(registered()).toSorted(), ['down', 'good']);
});

testOnSqlite('registration: an explicit sync retries servers of removed and disabled remotes', async (t, address) => {
  const on = await gatewayStage(t, address, {
    servers: { [`${H}/removed/sse`]: { fault: 'refused' }, [`${H}/disabled/sse`]: { fault: 'refused' } },
  });
  const { ask, publish, sync, hub, gateway, world, registered } = on;
  const [removed, disabled] = [publish('a', server('removed')), publish('b', server('disabled'))];
  for (const url of [removed, disabled]) await ask('POST', '/remotes', { url });
  assert.equal((await sync()).failed, 2);
  await ask('DELETE', '/remotes', { url: removed });
  await ask('PATCH', '/remotes', { url: disabled, enabled: false });
  assert.equal((await sync()).failed, 2);
  assert.equal((await sync({ force: true })).failed, 2);

  gateway.servers.clear();
  world.setTime('2026-06-03T12:00:00.000Z');
  await hub.syncRemotes(undefined, { background: true });
  assert.deepEqual(Object.keys(registered()), ['disabled'], 'background syncs skip servers that no remote lists');
  assert.equal((await sync()).registered, 1);
  assert.deepEqual(Object.keys(registered()).toSorted(), ['disabled', 'removed']);
});

testOnEveryEngine(
  'registration: a server that its remote withdrew is not offered to the gateway',
  async (t, address) => {
    const servers = { [`${H}/bad/sse`]: { fault: 'refused' } } as const;
    const { ask, publish, register, sync, gateway, registered } = await gatewayStage(t, address, { servers });
    assert.equal((await register(server('bad'), server('good'))).registered, 1);
    gateway.servers.clear();
    publish('servers', server('good'));
    assert.equal((await sync()).registered, 0);
    assert.deepEqual(Object.keys(registered()), ['good']);
    assert.ok((await ask('GET', path(serverUid('bad')))).body.missing_since);
    assert.equal((await sync({ force: true })).registered, 1, 'a person can insist');
  },
);

testOnSqlite('registration: a gateway that fails later is an error of the new servers', async (t, address) => {
  const { publish, register, sync, gateway, entity } = await gatewayStage(t, address);
  assert.equal((await register(server('first'))).registered, 1);
  await gateway.stop();
  publish('servers', server('first'), server('second'));
  assert.equal((await sync()).failed, 1);
  assert.match((await entity('second')).gateway_error, /^The gateway could not be reached/);
  await gateway.start();
  assert.equal((await sync()).registered, 1);
});

testOnSqlite('pending: a next try is announced only where background syncs run', async (t, address) => {
  const servers = { [`${H}/down/sse`]: { fault: 'refused' } } as const;
  const nextTry = async ({ ask }: Pick<Awaited<ReturnType<typeof gatewayStage>>, 'ask'>) =>
    (await ask('GET', '/gateways/pending')).body.items[0].next_try_at;
  const without = await gatewayStage(t, address, { servers });
  await without.register(server('down'));
  assert.equal(await nextTry(without), null);
  const within = await gatewayStage(t, address, { servers, settings: { INGEST_INTERVAL_MIN: '60' } });
  assert.equal(await nextTry(within), '2026-06-01T12:05:00.000Z');
});

testOnEveryEngine('pending: servers that can never be registered are counted separately', async (t, address) => {
  const { ask, publish } = await stage(t, address);
  const template = { url: `${H}/{tenant}/sse` };
  const manifests = [server('good'), server('local', STDIO), server('template', template)];
  await ask('POST', '/ingest', { url: publish('servers', ...manifests) });
  const pending = async (query = '') => {
    const { items, total, unregistrable } = (await ask('GET', `/gateways/pending${query}`)).body;
    return { names: items.map(({ name }: { name: string }) => name).toSorted(), total, unregistrable };
  };
  assert.deepEqual(await pending(), { names: ['good', 'local', 'template'], total: 3, unregistrable: 2 });
  assert.deepEqual(await pending('?registrable=true'), { names: ['good'], total: 1, unregistrable: 2 });
  assert.deepEqual(await pending('?registrable=false'), { names: ['local', 'template'], total: 2, unregistrable: 2 });

  const { items } = (await ask('GET', '/gateways/pending')).body;
  const said = new Map(
    items.map((item: { name: string; registrable: boolean; reason: string | null }) => [item.name, item]),
  );
  assert.partialDeepStrictEqual(said.get('good'), { registrable: true, reason: null });
  assert.partialDeepStrictEqual(said.get('local'), {
    registrable: false,
    reason: 'It runs as a local process (stdio) and has no address, so a gateway cannot connect to it.',
  });
  assert.partialDeepStrictEqual(said.get('template'), {
    registrable: false,
    reason: `Its address is a template (${H}/{tenant}/sse): fill in the values in braces first.`,
  });
});

testOnSqlite('pending: a disabled server is not registered, and the list says so', async (t, address) => {
  const { register, sync, ask, host, registered } = await gatewayStage(t, address);
  const lifecycle = { status: 'disabled' };
  assert.equal((await register(server('off', {}, { lifecycle }))).registered, 0);
  const { items, unregistrable } = (await ask('GET', '/gateways/pending')).body;
  const reason = 'Its manifest says that it is disabled, so it is not registered.';
  assert.equal(unregistrable, 1);
  assert.partialDeepStrictEqual(items, [{ name: 'off', registrable: false, reason, gateway_error: reason }]);
  assert.deepEqual([(await sync()).failed, (await sync({ force: true })).failed, registered()], [0, 1, {}]);

  host.put('/servers/off.json', server('off'));
  assert.equal((await sync()).registered, 1);
  host.put('/servers/off.json', server('off', {}, { lifecycle }));
  await sync();
  await sync();
  assert.deepEqual(registered(), {}, 'a server that becomes disabled is removed from the gateway');
  const again = (await ask('GET', '/gateways/pending')).body;
  assert.partialDeepStrictEqual(again.items, [{ name: 'off', registrable: false, gateway_registered_at: null }]);
});

testOnSqlite('pending: deleting all deletes nothing else', async (t, address) => {
  const { register, ask, gateway } = await gatewayStage(t, address, {
    servers: { [`${H}/down/sse`]: { fault: 'refused' } },
  });
  await register(server('good'), server('down'), server('local', STDIO), server('blocked', STDIO));
  await ask('PATCH', path(serverUid('blocked')), { blocked: true });
  const remove = async (payload: JsonObject) => ask('POST', '/gateways/pending/delete', payload);

  assert.equal((await remove({})).status, 400);
  assert.equal((await remove({ uids: null, all: null })).status, 400);
  assert.deepEqual(
    (await remove({ uids: ['__proto__'], error_only: null })).body.skipped,
    JSON.parse('{"__proto__":"not found"}'),
  );
  const { removed: isRemoved, reason } = (await ask('DELETE', '/gateways/pending/__proto__')).body;
  assert.deepEqual([isRemoved, reason], [false, 'not found']);
  assert.deepEqual((await remove({ uids: [serverUid('blocked')] })).body.skipped, {
    [serverUid('blocked')]: 'blocked',
  });
  const { removed, skipped, total_removed } = (await remove({ all: true })).body;
  assert.deepEqual(
    { removed: removed.toSorted(), skipped, total_removed },
    { removed: [serverUid('down'), serverUid('local')], skipped: {}, total_removed: 2 },
  );
  assert.equal((await ask('GET', '/gateways/pending')).body.total, 0);
  assert.equal((await ask('GET', path(serverUid('good')))).status, 200);
  assert.equal(gateway.table.gateways.length, 1);
});
