import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyDatabase, testOnEveryEngine, testOnSqlite } from '../support/databases/databases.ts';
import { cpuMs, SOON } from '../support/in-time.ts';
import { type FakeGateway, startFakeGateway } from '../support/servers/fake-gateway.ts';
import { aServerManifest, H, stage, uidOf } from './stage.ts';

const NOON = '2026-06-01T12:00:00.000Z';

function manyServers(count: number, from = 0) {
  return Array.from({ length: count }, (_, index) => {
    const id = `s${String(from + index).padStart(4, '0')}`;
    return aServerManifest(id, { url: `${H}/${id}/sse` });
  });
}

function posts(gateway: FakeGateway): number {
  return gateway.lines().filter((line) => /^POST .*\/gateways$/.test(line)).length;
}

testOnEveryEngine('sync: a pending server becomes registered, and its earlier error is cleared', async (t, address) => {
  const fake = await startFakeGateway(t, { servers: { [`${H}/a`]: { fault: 'refused' } } });
  const { ingest, sync, state, wait, store } = await stage(t, address, fake);
  await ingest(aServerManifest('a', { url: `${H}/a` }), aServerManifest('b', { url: `${H}/b` }));
  assert.deepEqual(await state(uidOf('a')), { registered: null, error: null }, 'ingested: pending');

  assert.deepEqual(await sync(), { ranToEnd: true, registered: 1, failed: 1 });
  assert.deepEqual(await state(uidOf('b')), { registered: NOON, error: null });
  const failed = await state(uidOf('a'));
  assert.equal(failed?.registered, null);
  assert.match(failed?.error ?? '', /All connection attempts failed/);
  const { servers } = await store.pending({ limit: 10, offset: 0, errorOnly: true, text: '' });
  assert.deepEqual(
    servers.map(({ uid, tries, lastTryAt, nextTryAt }) => [uid, tries, lastTryAt, nextTryAt]),
    [[uidOf('a'), 1, NOON, '2026-06-01T12:05:00.000Z']],
  );

  fake.servers.clear();
  wait(6);
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 1, failed: 0 });
  assert.deepEqual(await state(uidOf('a')), { registered: '2026-06-01T12:06:00.000Z', error: null });
});

testOnSqlite('sync: a second sync only compares and changes nothing', async (t, address) => {
  const fake = await startFakeGateway(t);
  const { ingest, sync, wait } = await stage(t, address, fake);
  await ingest(...manyServers(5));
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 5, failed: 0 });
  const calls = fake.calls.length;
  wait(600);
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 0, failed: 0 });
  assert.deepEqual(await sync({ effort: 'force' }), { ranToEnd: true, registered: 0, failed: 0 });
  assert.deepEqual(fake.lines().slice(calls), ['GET /v1/gateways', 'GET /v1/gateways']);
});

testOnSqlite('sync: a changed manifest is registered under its new name; a failure is retried', async (t, address) => {
  const fake = await startFakeGateway(t, { servers: { [`${H}/new/sse`]: { fault: 'refused' } } });
  const { ingest, sync, state, wait } = await stage(t, address, fake);
  await ingest(aServerManifest('a', { url: `${H}/sse`, name: 'First name' }));
  await sync();
  await ingest(aServerManifest('a', { url: `${H}/new/sse`, name: 'Second name' }));
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 0, failed: 1 });
  const failed = await state(uidOf('a'));
  assert.equal(failed?.registered, NOON, 'registered servers stay registered');
  assert.match(failed?.error ?? '', /All connection attempts failed/);

  fake.servers.clear();
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 0, failed: 0 }, 'it waits');
  wait(5);
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 1, failed: 0 });
  assert.deepEqual(
    fake.table.gateways.map((row) => [row.originalName, row.fields.url]),
    [['Second name', `${H}/new/sse`]],
  );
});

testOnSqlite('sync: two versions with one address share a server until one of them moves', async (t, address) => {
  const fake = await startFakeGateway(t);
  const { ingest, sync, state } = await stage(t, address, fake);
  const version = (number: string, url: string) => aServerManifest('a', { url }, { version: number });
  await ingest(version('1.0.0', `${H}/sse`), version('2.0.0', `${H}/sse`));
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 2, failed: 0 });
  assert.equal(posts(fake), 1);
  await ingest(version('2.0.0', `${H}/two/sse`));
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 1, failed: 0 });
  assert.deepEqual(
    fake.table.gateways.map((row) => [row.originalName, row.fields.url]),
    [
      ['a', `${H}/sse`],
      ['a-2.0.0', `${H}/two/sse`],
    ],
  );
  assert.equal((await state(uidOf('a', '1.0.0')))?.error, null);
});

testOnSqlite('sync: a server that cannot be registered gets an error once, and no call', async (t, address) => {
  const fake = await startFakeGateway(t);
  const { ingest, sync, state, wait } = await stage(t, address, fake);
  await ingest(
    aServerManifest('stdio', { transport: 'STDIO', exec: { cmd: ['npx'] } }),
    aServerManifest('template', { url: `${H}/{tenant}/sse` }),
    aServerManifest('scheme', { url: 'mcp+stdio://thing' }),
    aServerManifest('nothing', undefined),
  );
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 0, failed: 4 });
  assert.equal(fake.calls.length, 0);
  const said = { stdio: /local process/, template: /template/, scheme: /mcp\+stdio/, nothing: /no mcp_registration/ };
  for (const [id, says] of Object.entries(said)) assert.match((await state(uidOf(id)))?.error ?? '', says);
  wait(60 * 24 * 7);
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 0, failed: 0 }, 'not before the manifest changes');
  await ingest(aServerManifest('stdio', { url: `${H}/sse` }));
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 1, failed: 0 });
});

testOnSqlite('sync: retries back off exponentially; force ignores that', async (t, address) => {
  const fake = await startFakeGateway(t, { servers: { [`${H}/a`]: { fault: 'refused' } } });
  const { ingest, sync, wait } = await stage(t, address, fake);
  await ingest(aServerManifest('a', { url: `${H}/a` }));
  await sync();
  await sync();
  assert.equal(posts(fake), 1, 'not at once');
  wait(5);
  await sync();
  assert.equal(posts(fake), 2);
  wait(9);
  await sync();
  assert.equal(posts(fake), 2, 'ten minutes after the second');
  await sync({ effort: 'force' });
  assert.equal(posts(fake), 3);
  wait(20);
  await sync();
  assert.equal(posts(fake), 4, 'twenty after the third');
});

testOnSqlite('sync: an unreachable gateway stops it; only tried servers have the error', async (t, address) => {
  const fake = await startFakeGateway(t);
  const { ingest, sync, store, world } = await stage(t, address, fake);
  await ingest(...manyServers(30));
  await fake.stop();
  const report = await sync();
  assert.equal(report?.ranToEnd, false);
  const { servers } = await store.pending({ limit: 100, offset: 0, errorOnly: true, text: '' });
  assert.ok(servers.length >= 1 && servers.length <= 4, `${servers.length} have the error`);
  assert.equal(report?.failed, servers.length);
  assert.equal(servers[0]?.gatewayError, 'The gateway could not be reached: nothing listens there (ECONNREFUSED).');
  assert.equal(servers[0]?.tries, 0, 'the try does not count');
  assert.match(world.logged.at(-1)?.message ?? '', /^Registration stopped: The gateway could not be reached/);

  await fake.start();
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 30, failed: 0 }, 'all at once, without waiting');
});

test('sync: a wrong secret stops it with advice about the settings', async (t) => {
  const address = await emptyDatabase(t, 'sqlite');
  const fake = await startFakeGateway(t);
  const { ingest, sync, store } = await stage(t, address, fake, { client: { credentials: { jwtSecret: 'wrong' } } });
  await ingest(...manyServers(30));
  assert.equal((await sync())?.ranToEnd, false);
  const { servers } = await store.pending({ limit: 100, offset: 0, errorOnly: true, text: '' });
  assert.ok(servers.length <= 4);
  assert.match(servers[0]?.gatewayError ?? '', /401.*JWT_SECRET_KEY/);
  assert.ok(fake.calls.length <= 8);
});

test('sync: after a gateway restart, the next sync continues with the rest', async (t) => {
  const address = await emptyDatabase(t, 'sqlite');
  const fake = await startFakeGateway(t, { latencyMs: 1 });
  const { ingest, sync, state } = await stage(t, address, fake);
  await ingest(...manyServers(60));
  fake.onCall(async ({ method }) => {
    if (method === 'POST' && fake.table.gateways.length >= 20) {
      fake.onCall(undefined);
      await fake.stop();
    }
  });
  const first = await sync();
  assert.equal(first?.ranToEnd, false);
  assert.ok(first && first.registered >= 16 && first.registered < 30, JSON.stringify(first));
  assert.deepEqual(await state(uidOf('s0059')), { registered: null, error: null });

  await fake.start();
  const before = fake.calls.length;
  const second = await sync();
  assert.equal(second?.ranToEnd, true);
  assert.equal((first?.registered ?? 0) + (second?.registered ?? 0), 60);
  assert.equal(fake.table.gateways.length, 60, 'none is sent twice');
  assert.ok(fake.calls.length - before <= 60 - first.registered + 1, 'only the rest');
});

test('sync: survives a short restart of the gateway', async (t) => {
  const fake = await startFakeGateway(t, { latencyMs: 1 });
  const { ingest, sync } = await stage(t, await emptyDatabase(t, 'sqlite'), fake, { client: { backoffMs: 150 } });
  await ingest(...manyServers(20));
  fake.onCall(async ({ method }) => {
    if (method !== 'POST' || fake.table.gateways.length < 8) return;
    fake.onCall(undefined);
    void fake.stop().then(() => fake.start());
  });
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 20, failed: 0 });
  assert.equal(fake.table.gateways.length, 20);
});

test('sync: 429 pauses all calls, then it continues', async (t) => {
  // Long enough for a slow machine to reach the limit, too.
  const rateLimit = { limit: 12, windowMs: 4_000, retryAfterSec: 4.05, violationsBeforeLockout: 100 };
  const fake = await startFakeGateway(t, { generation: '1.0.3', rateLimit, latencyMs: 1 });
  const client = { sleep: async () => {} };
  const { ingest, sync, state } = await stage(t, await emptyDatabase(t, 'sqlite'), fake, { client });
  await ingest(...manyServers(30));
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 30, failed: 0 });
  assert.equal((await state(uidOf('s0000')))?.error, null);
  const refused = fake.calls.filter(({ status }) => status === 429).length;
  assert.ok(refused >= 1 && refused <= 4 * 3, `${refused} calls were refused`);
});

test('sync: slows down in time to avoid 429', async (t) => {
  const rateLimit = { limit: 20, windowMs: 300, retryAfterSec: 60 };
  const fake = await startFakeGateway(t, { generation: '1.0.3', rateLimit });
  // A minute of the gateway takes 300 ms here.
  const client = { sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, (ms / 60_000) * 300)) };
  const { ingest, sync } = await stage(t, await emptyDatabase(t, 'sqlite'), fake, { client });
  await ingest(...manyServers(25));
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 25, failed: 0 });
  assert.equal(fake.calls.filter(({ status }) => status === 429).length, 0);
});

test('sync: a long lockout ends it with a reason', SOON, async (t) => {
  const address = await emptyDatabase(t, 'sqlite');
  const fake = await startFakeGateway(t, { generation: '1.0.3', rateLimit: { limit: 10, violationsBeforeLockout: 0 } });
  const { ingest, sync, store } = await stage(t, address, fake);
  await ingest(...manyServers(20));
  assert.equal((await sync())?.ranToEnd, false);
  assert.ok(fake.calls.length <= 4, `${fake.calls.length} calls`);
  const { servers } = await store.pending({ limit: 100, offset: 0, errorOnly: true, text: '' });
  assert.ok(servers.length >= 1 && servers.length <= 4);
  assert.match(servers[0]?.gatewayError ?? '', /429: Account locked.* It asks to wait 900 s\.$/);
});

test('sync: endless pauses of a gateway end it', async (t) => {
  const rateLimit = { limit: 0, retryAfterSec: 0.01, violationsBeforeLockout: 1_000 };
  const fake = await startFakeGateway(t, { generation: '1.0.3', rateLimit });
  const client = { sleep: async () => {} };
  const { ingest, sync } = await stage(t, await emptyDatabase(t, 'sqlite'), fake, { client });
  await ingest(...manyServers(3));
  assert.equal((await sync())?.ranToEnd, false);
  assert.ok(fake.calls.length <= 30, `${fake.calls.length} calls`);
});

test('sync: a stopping hub leaves untried servers unchanged', SOON, async (t) => {
  const address = await emptyDatabase(t, 'sqlite');
  const fake = await startFakeGateway(t, { servers: { [`${H}/s0002/sse`]: { fault: 'hangs' } } });
  const { ingest, sync, state } = await stage(t, address, fake, { concurrency: 1, client: { slowTimeoutMs: 600_000 } });
  await ingest(...manyServers(10));
  const stopping = new AbortController();
  fake.onCall(({ body }) => void (body?.name === 's0002' && setTimeout(() => stopping.abort(), 20)));
  assert.deepEqual(await sync({ signal: stopping.signal }), { ranToEnd: false, registered: 2, failed: 0 });
  assert.deepEqual(await state(uidOf('s0002')), { registered: null, error: null });
  fake.onCall(undefined);
  fake.servers.clear();
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 8, failed: 0 }, 'no server is left claimed');
});

testOnEveryEngine('sync: deleting a row during its registration leaves nothing in the gateway', async (t, address) => {
  const fake = await startFakeGateway(t);
  const { ingest, sync, store, state } = await stage(t, address, fake);
  const registration = {
    tool: { name: 'own_tool', url: `${H}/tool`, request_type: 'GET' },
    prompts: [{ name: 'p', template: '' }],
  };
  const server = { transport: 'SSE', url: `${H}/a/sse` };
  await ingest(
    aServerManifest('a', {}, { mcp_registration: { server, ...registration } }),
    aServerManifest('b', { url: `${H}/b/sse` }),
    aServerManifest('c', { url: `${H}/c/sse` }),
  );
  fake.onCall(async ({ method, path, body }) => {
    if (method !== 'POST' || !path.endsWith('/gateways') || body?.name !== 'a') return;
    assert.equal(await store.remove(uidOf('a')), 'removed');
  });
  const report = await sync();
  assert.deepEqual(report, { ranToEnd: true, registered: 2, failed: 0 });
  assert.equal(await state(uidOf('a')), undefined);
  assert.deepEqual(fake.table.gateways.map(({ originalName }) => originalName).toSorted(), ['b', 'c']);
  assert.deepEqual(fake.table.prompts, []);
  assert.deepEqual(
    fake.table.tools.filter(({ gatewayId }) => gatewayId === null),
    [],
  );
});

test('sync: a deleted row does not remove a server that existed before', async (t) => {
  const address = await emptyDatabase(t, 'sqlite');
  const fake = await startFakeGateway(t);
  const { ingest, sync, store } = await stage(t, address, fake);
  await ingest(aServerManifest('a', { url: `${H}/sse` }, { version: '1.0.0' }));
  await sync();
  await ingest(aServerManifest('a', { url: `${H}/sse` }, { version: '2.0.0' }));
  fake.onCall(async () => void (await store.remove(uidOf('a', '2.0.0'))));
  await sync();
  assert.equal(fake.table.gateways.length, 1);
});

testOnEveryEngine('sync: a manifest that changes during its registration is registered again', async (t, address) => {
  const fake = await startFakeGateway(t);
  const { ingest, sync } = await stage(t, address, fake);
  await ingest(aServerManifest('a', { url: `${H}/sse` }));
  fake.onCall(async ({ method }) => {
    if (method === 'POST') await ingest(aServerManifest('a', { url: `${H}/new/sse` }));
  });
  assert.equal((await sync())?.registered, 1);
  fake.onCall(undefined);
  assert.equal((await sync())?.registered, 1);
  assert.equal(fake.table.gateways[0]?.fields.url, `${H}/new/sse`);
});

test('sync: registers more servers than one page holds, limits concurrency and reports progress', async (t) => {
  const address = await emptyDatabase(t, 'sqlite');
  const fake = await startFakeGateway(t, { latencyMs: 3 });
  const { ingest, sync } = await stage(t, address, fake, { concurrency: 3 });
  await ingest(...manyServers(210), aServerManifest('stdio', { transport: 'STDIO' }));
  const seen: number[] = [];
  const totals = new Set<number>();
  await sync({ onProgress: ({ done, total }) => [seen.push(done), totals.add(total)] });
  assert.ok(fake.mostAtOnce() <= 3, `${fake.mostAtOnce()} at once`);
  assert.equal(seen.at(-1), 211);
  assert.deepEqual([...totals], [211], 'the total is known from the start');
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a - b),
  );
  assert.equal(fake.calls.length, 211, 'one list, and one call per server');
});

test('sync: a hanging server does not delay the others', SOON, async (t) => {
  const fake = await startFakeGateway(t, { servers: { [`${H}/s0000/sse`]: { fault: 'hangs' } } });
  const client = { slowTimeoutMs: 600_000 };
  const { ingest, sync } = await stage(t, await emptyDatabase(t, 'sqlite'), fake, { client });
  await ingest(...manyServers(50));
  const stopping = new AbortController();
  const onProgress = ({ done }: { done: number }) => void (done === 49 && stopping.abort());
  assert.deepEqual(await sync({ onProgress, signal: stopping.signal }), { ranToEnd: false, registered: 49, failed: 0 });
});

test('sync: disabled servers are not registered', async (t) => {
  const address = await emptyDatabase(t, 'sqlite');
  const fake = await startFakeGateway(t);
  const { ingest, sync } = await stage(t, address, fake);
  await ingest(
    aServerManifest('off', { url: `${H}/off` }, { lifecycle: { status: 'disabled' } }),
    aServerManifest('old', { url: `${H}/old` }, { lifecycle: { status: 'deprecated' } }),
  );
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 1, failed: 1 });
  assert.deepEqual(
    fake.table.gateways.map(({ originalName }) => originalName),
    ['old'],
  );
});

test('agents: are never registered', async (t) => {
  const fake = await startFakeGateway(t);
  const { ingest, sync, gateway } = await stage(t, await emptyDatabase(t, 'sqlite'), fake);
  await ingest({ ...aServerManifest('minutes', { transport: 'HTTP', url: `${H}/agent` }), type: 'agent' });
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 0, failed: 0 });
  assert.equal(await gateway.registerOne('agent:minutes@1.0.0'), undefined);
  assert.equal(fake.calls.length, 0);
});

testOnSqlite('registerOne: registers at once, despite earlier failures, and reports every call', async (t, address) => {
  const fake = await startFakeGateway(t, { servers: { [`${H}/a`]: { fault: 'refused' } } });
  const { ingest, gateway, state } = await stage(t, address, fake);
  await ingest(aServerManifest('a', { url: `${H}/a` }), aServerManifest('none', undefined));
  const failed = await gateway.registerOne(uidOf('a'));
  assert.equal(failed?.outcome, 'failed');
  assert.match((await state(uidOf('a')))?.error ?? '', /All connection attempts failed/);
  fake.servers.clear();
  const registered = await gateway.registerOne(uidOf('a'));
  assert.deepEqual(
    registered?.calls.map(({ call, outcome }) => `${call} ${outcome}`),
    ['POST /gateways created'],
  );
  assert.deepEqual(await state(uidOf('a')), { registered: NOON, error: null });
  assert.equal(await gateway.registerOne(uidOf('none')), undefined, 'nothing to register');
  assert.equal((await state(uidOf('none')))?.error, null);
  assert.equal(await gateway.registerOne(uidOf('unknown')), undefined);
});

test('registerOne: a server deleted meanwhile leaves nothing in the gateway; a down gateway is reported', async (t) => {
  const address = await emptyDatabase(t, 'sqlite');
  const fake = await startFakeGateway(t);
  const { ingest, gateway, store, state } = await stage(t, address, fake);
  await ingest(aServerManifest('a', { url: `${H}/a` }), aServerManifest('b', { url: `${H}/b` }));
  fake.onCall(async ({ method }) => void (method === 'POST' && (await store.remove(uidOf('a')))));
  await gateway.registerOne(uidOf('a'));
  assert.deepEqual(fake.table.gateways, []);
  await fake.stop();
  assert.equal((await gateway.registerOne(uidOf('b')))?.outcome, 'gateway_down');
  assert.match((await state(uidOf('b')))?.error ?? '', /could not be reached/);
});

test('sync: stores and logs no secrets, even when the gateway echoes them', async (t) => {
  const address = await emptyDatabase(t, 'sqlite');
  const fake = await startFakeGateway(t);
  fake.onCall(({ method, path, headers, body }) => {
    const detail = `${headers.authorization} ${JSON.stringify(body)}`;
    if (method === 'POST') fake.surprise(`${method} ${path}`, { status: 400, body: { detail } });
  });
  const { ingest, sync, state, world } = await stage(t, address, fake);
  await ingest(
    aServerManifest('a', {
      url: `${H}/a`,
      auth_type: 'basic',
      auth_username: 'hunter2-user',
      auth_password: 'hunter2-password',
    }),
  );
  await sync();
  const error = (await state(uidOf('a')))?.error ?? '';
  assert.match(error, /400: Bearer … /);
  assert.doesNotMatch(`${error}${JSON.stringify(world.logged)}`, /hunter2|eyJ/);
});

test('sync: reports why it stopped; a down gateway does not replace a server’s earlier error', async (t) => {
  const fake = await startFakeGateway(t, { servers: { [`${H}/a`]: { fault: 'refused' } } });
  const { ingest, gateway, sync, state, wait } = await stage(t, await emptyDatabase(t, 'sqlite'), fake);
  await ingest(aServerManifest('a', { url: `${H}/a` }));
  await sync();
  await fake.stop();
  wait(10);
  const report = await gateway.registerPending({ effort: 'background', signal: new AbortController().signal });
  assert.equal(report?.stopped, 'The gateway could not be reached: nothing listens there (ECONNREFUSED).');
  assert.match((await state(uidOf('a')))?.error ?? '', /All connection attempts failed/);
});

testOnSqlite('sync: a megabyte of hostile text in a manifest delays nothing', async (t, address) => {
  const fake = await startFakeGateway(t);
  const { ingest, sync, store } = await stage(t, address, fake);
  const description = '<'.repeat(1_000_000);
  await ingest(
    aServerManifest('server', { url: `${H}/a/sse`, description }),
    aServerManifest('prompt', undefined, {
      mcp_registration: { prompts: [{ name: 'p', template: '', description: '$'.repeat(900_000) }] },
    }),
  );
  const took = await cpuMs(async () => assert.deepEqual(await sync(), { ranToEnd: true, registered: 2, failed: 0 }));
  assert.ok(took < 10_000, `${took} ms`);
  assert.equal((await store.pending({ limit: 1, offset: 0, errorOnly: false, text: '' })).total, 0);
});
