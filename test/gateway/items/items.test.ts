import assert from 'node:assert/strict';
import type { LeftoverReport } from '../../../src/gateway/contract.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { testOnEveryEngine, testOnSqlite } from '../../support/databases/databases.ts';
import { createRow } from '../../support/servers/fake-gateway/rows.ts';
import { type FakeGateway, startFakeGateway } from '../../support/servers/fake-gateway.ts';
import { aServerManifest, H, type Stage, stage, uidOf } from '../stage.ts';

const TOOL = { name: 'own_tool', url: `${H}/tool`, request_type: 'GET' };
const RESOURCE = { uri: 'memo://one', name: 'Memo', content: 'Hello.' };
const PROMPT = { name: 'greet', template: 'Hello {{ name }}' };
const PARTS = { tool: TOOL, resources: [RESOURCE], prompts: [PROMPT] };

/** A manifest of a server at `/<id>/sse`, with more of its registration. */
function aManifestWith(id: string, registration: JsonObject = {}, fields: JsonObject = {}): JsonObject {
  const server = { transport: 'SSE', url: `${H}/${id}/sse` };
  return aServerManifest(id, undefined, { mcp_registration: { server, ...registration }, ...fields });
}

/** Shows the number of items in place of their names. */
async function counted(report: Promise<LeftoverReport>) {
  const { removed, ...rest } = await report;
  return { removed: removed.length, ...rest };
}

/** The items in the gateway, without discovered tools: `kind name`. */
function rowsOf({ table }: FakeGateway): string[] {
  return Object.entries(table)
    .flatMap(([kind, rows]) =>
      rows.filter(({ gatewayId }) => gatewayId === null).map(({ originalName }) => `${kind} ${originalName}`),
    )
    .toSorted();
}

function writes(fake: FakeGateway): string[] {
  return fake.lines({ withoutLists: true }).map((line) => line.replace('/v1', ''));
}

/** An entity is pending if and only if it is not registered, and registered if and only if the gateway has it. */
async function assertRegistered({ state }: Stage, id: string, isRegistered: boolean): Promise<void> {
  const { registered } = (await state(uidOf(id))) ?? {};
  assert.equal(registered !== null, isRegistered, `${id}: ${registered}`);
}

testOnEveryEngine('items: a tool is never overwritten by another server', async (t, address) => {
  const fake = await startFakeGateway(t);
  const { ingest, sync, state, itemsOf } = await stage(t, address, fake);
  await ingest(aManifestWith('a', PARTS));
  await sync();
  const theirs = { tool: { ...TOOL, url: `${H}/other` }, prompts: [{ ...PROMPT, template: 'Bye' }] };
  await ingest(aManifestWith('b', theirs));
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 0, failed: 1 });
  assert.equal(
    (await state(uidOf('b')))?.error,
    "Tool 'own_tool': The gateway has a tool of this name for another server (mcp_server:a@1.0.0). Prompt 'greet': The gateway has a prompt of this name for another server (mcp_server:a@1.0.0).",
  );
  assert.equal(fake.table.tools.find(({ gatewayId }) => gatewayId === null)?.fields.url, `${H}/tool`);
  assert.equal(fake.table.prompts[0]?.fields.template, PROMPT.template);
  assert.deepEqual(await itemsOf(uidOf('b')), ['gateways b*'], 'its server is in the gateway, and recorded');
});

testOnSqlite('items: the hub does not change or delete what it did not create', async (t, address) => {
  const fake = await startFakeGateway(t);
  const { ingest, sync, state, itemsOf, remove, gateway } = await stage(t, address, fake);
  fake.table.tools.push(createRow('own_tool', { url: `${H}/by-hand` }));
  fake.table.gateways.push(createRow('By hand', { url: `${H}/b/sse`, transport: 'SSE', description: 'Mine.' }));
  await ingest(aManifestWith('a', { tool: TOOL }), aManifestWith('b'));
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 1, failed: 1 });
  const error = (await state(uidOf('a')))?.error;
  assert.equal(error, "Tool 'own_tool': The gateway has a tool of this name that this hub did not create.");
  assert.deepEqual(await itemsOf(uidOf('b')), ['gateways By hand']);

  await ingest(aManifestWith('b', {}, { summary: 'Other words.' }));
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 0, failed: 0 });
  const again = await gateway.registerOne(uidOf('b'));
  assert.match(again?.calls[0]?.note ?? '', /This hub did not create it, so it stays unchanged/);
  assert.equal(fake.table.gateways.find(({ originalName }) => originalName === 'By hand')?.fields.description, 'Mine.');
  await remove(uidOf('a'), uidOf('b'));
  assert.deepEqual(await counted(gateway.removeLeftovers()), { removed: 1, left: 0, foreign: ['By hand'] });
  assert.deepEqual(rowsOf(fake), ['gateways By hand', 'tools own_tool']);
});

testOnSqlite('items: a part that left its manifest is deleted', async (t, address) => {
  const fake = await startFakeGateway(t);
  const { ingest, sync, itemsOf } = await stage(t, address, fake);
  await ingest(aManifestWith('a', PARTS));
  await sync();
  assert.deepEqual(await itemsOf(uidOf('a')), [
    'gateways a*',
    'prompts greet*',
    'resources memo://one*',
    'tools own_tool*',
  ]);
  await ingest(aManifestWith('a', { resources: [RESOURCE] }));
  fake.calls.length = 0;
  await sync();
  assert.deepEqual(rowsOf(fake), ['gateways a', 'resources Memo']);
  assert.deepEqual(await itemsOf(uidOf('a')), ['gateways a*', 'resources memo://one*']);
  assert.ok(
    writes(fake).every((line) => line.startsWith('DELETE /')),
    writes(fake).join(),
  );
});

testOnSqlite('items: a failed deletion of a part is retried', async (t, address) => {
  const fake = await startFakeGateway(t);
  const on = await stage(t, address, fake);
  await on.ingest(aManifestWith('a', { tool: TOOL }));
  await on.sync();
  await on.ingest(aManifestWith('a'));
  const path = `/v1/tools/${fake.table.tools.find(({ gatewayId }) => gatewayId === null)?.id}`;
  for (const _try of [1, 2]) fake.surprise(`DELETE ${path}`, { status: 500, body: { detail: 'locked' } });
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 0, failed: 1 });
  assert.match((await on.state(uidOf('a')))?.error ?? '', /'own_tool' .* could not be deleted: .*500: locked/);
  await on.sync({ effort: 'explicit' });
  assert.deepEqual(rowsOf(fake), ['gateways a']);
  assert.equal((await on.state(uidOf('a')))?.error, null);
});

testOnSqlite('items: a part that the server also serves stays', async (t, address) => {
  const fake = await startFakeGateway(t, { servers: { [`${H}/a/sse`]: { prompts: ['greet'] } } });
  const { ingest, sync, remove, gateway } = await stage(t, address, fake);
  await ingest(aManifestWith('a', { prompts: [PROMPT] }));
  await sync();
  await ingest(aManifestWith('a'));
  await sync();
  assert.equal(fake.table.prompts.length, 1);
  await remove(uidOf('a'));
  assert.deepEqual(await counted(gateway.removeLeftovers()), { removed: 1, left: 0, foreign: [] });
  assert.deepEqual([fake.table.prompts, fake.table.gateways], [[], []]);
});

testOnEveryEngine('leftovers: everything of a removed entity is deleted, the server first', async (t, address) => {
  const fake = await startFakeGateway(t);
  const { ingest, sync, itemsOf, remove, gateway } = await stage(t, address, fake);
  await ingest(aManifestWith('a', PARTS), aManifestWith('b'));
  await sync();
  await remove(uidOf('a'));
  // Some of it was already deleted by hand.
  fake.table.tools = fake.table.tools.filter(({ gatewayId }) => gatewayId !== null);
  fake.table.resources = [];
  fake.calls.length = 0;
  assert.deepEqual(await counted(gateway.removeLeftovers()), { removed: 4, left: 0, foreign: [] });
  assert.deepEqual(
    writes(fake).map((line) => line.replace(/[^/]+$/, '…')),
    ['DELETE /gateways/…', 'DELETE /tools/…', 'DELETE /resources/…', 'DELETE /prompts/…'],
  );
  assert.deepEqual(rowsOf(fake), ['gateways b']);
  assert.deepEqual(await itemsOf(uidOf('a')), []);
  assert.deepEqual(await counted(gateway.removeLeftovers()), { removed: 0, left: 0, foreign: [] });
});

testOnSqlite('leftovers: failed deletions are retried by the next sync', async (t, address) => {
  const fake = await startFakeGateway(t);
  const { ingest, sync, remove, gateway } = await stage(t, address, fake);
  await ingest(aManifestWith('a', PARTS));
  await sync();
  await remove(uidOf('a'));
  await fake.stop();
  const stopped = 'The gateway could not be reached: nothing listens there (ECONNREFUSED).';
  assert.deepEqual(await counted(gateway.removeLeftovers()), { removed: 0, left: 4, foreign: [], stopped });
  await fake.start();
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 0, failed: 0 });
  assert.deepEqual(rowsOf(fake), []);
});

testOnEveryEngine('leftovers: an item shared with another entity passes to that entity', async (t, address) => {
  const fake = await startFakeGateway(t);
  const { ingest, sync, itemsOf, remove, gateway } = await stage(t, address, fake);
  const version = (number: string) => aManifestWith('a', { tool: TOOL }, { version: number });
  await ingest(version('1.0.0'), version('2.0.0'));
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 2, failed: 0 });
  const [first, second] = [uidOf('a', '1.0.0'), uidOf('a', '2.0.0')];
  const owned = (await itemsOf(first)).length === 2 && (await itemsOf(first))[0]?.endsWith('*') ? first : second;
  const other = owned === first ? second : first;
  assert.deepEqual(await itemsOf(other), ['gateways a', 'tools own_tool']);
  await remove(owned);
  assert.deepEqual(await counted(gateway.removeLeftovers()), { removed: 0, left: 0, foreign: [] });
  assert.deepEqual(rowsOf(fake), ['gateways a', 'tools own_tool']);
  assert.deepEqual(await itemsOf(other), ['gateways a*', 'tools own_tool*']);
  await remove(other);
  assert.deepEqual(await counted(gateway.removeLeftovers()), { removed: 2, left: 0, foreign: [] });
  assert.deepEqual(rowsOf(fake), []);
});

testOnSqlite('leftovers: a removed pending server leaves no parts', async (t, address) => {
  const fake = await startFakeGateway(t, { servers: { [`${H}/a/sse`]: { fault: 'refused' } } });
  const { ingest, sync, store, itemsOf } = await stage(t, address, fake);
  await ingest(aManifestWith('a', PARTS));
  assert.deepEqual(await sync(), { ranToEnd: true, registered: 0, failed: 1 });
  assert.deepEqual(await itemsOf(uidOf('a')), ['prompts greet*', 'resources memo://one*', 'tools own_tool*']);
  assert.equal(await store.remove(uidOf('a')), 'removed');
  await sync();
  assert.deepEqual(rowsOf(fake), []);
});

testOnSqlite('blocked: is unregistered, removed from the gateway, and skipped until unblocked', async (t, address) => {
  const fake = await startFakeGateway(t);
  const on = await stage(t, address, fake);
  await on.ingest(aManifestWith('a', PARTS), aManifestWith('b'));
  await on.sync();
  await on.block(uidOf('a'));
  assert.deepEqual(await counted(on.gateway.removeLeftovers()), { removed: 4, left: 0, foreign: [] });
  assert.deepEqual(rowsOf(fake), ['gateways b']);
  await assertRegistered(on, 'a', false);
  assert.deepEqual(await on.sync({ effort: 'force' }), { ranToEnd: true, registered: 0, failed: 0 });
  const refused = await on.gateway.registerOne(uidOf('a'));
  assert.equal(refused?.outcome === 'failed' && refused.error, 'It is blocked, so it is not registered.');
  assert.deepEqual(await on.state(uidOf('a')), { registered: null, error: null });
  const page = await on.store.pending({ limit: 10, offset: 0, errorOnly: false, text: '' });
  assert.equal(page.total, 0, 'it is not pending');
  assert.equal(await on.store.remove(uidOf('a')), 'blocked');

  await on.block(uidOf('a'), null);
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 1, failed: 0 });
});

/** The state that a hub leaves when it is killed before the gateway answers. */
async function asked({ dialect, world }: Stage, uid: string, item: { kind: string; id: string; name: string }) {
  const { kind, id, name } = item;
  const row = { uid, kind, item_id: id, name, is_ours: 1, body_digest: null, asked_at: world.now().toISOString() };
  await dialect.write.insertInto('gateway_item').values(row).execute();
}

testOnEveryEngine('late: parts that a killed hub requested are removed with their entity', async (t, address) => {
  const fake = await startFakeGateway(t);
  const on = await stage(t, address, fake);
  await on.ingest(aManifestWith('a', PARTS));
  for (const [kind, name] of Object.entries({ tools: 'own_tool', resources: 'memo://one', prompts: 'greet' }))
    await asked(on, uidOf('a'), { kind, id: name, name });
  fake.table.tools.push(createRow('own_tool', { url: `${H}/tool` }));
  fake.table.resources.push(createRow('Memo', { uri: 'memo://one', content: 'Hello.' }));
  fake.table.prompts.push(createRow('greet', { template: PROMPT.template }));
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 1, failed: 0 });
  assert.deepEqual(await on.itemsOf(uidOf('a')), [
    'gateways a*',
    'prompts greet*',
    'resources memo://one*',
    'tools own_tool*',
  ]);
  await on.remove(uidOf('a'));
  await on.sync();
  assert.deepEqual(rowsOf(fake), []);
});

testOnSqlite('late: nothing is deleted by address while the gateway cannot be read', async (t, address) => {
  const fake = await startFakeGateway(t);
  const on = await stage(t, address, fake);
  await on.ingest(aManifestWith('a'));
  await on.sync();
  await asked(on, 'mcp_server:a@0.9.0', { kind: 'gateways', id: `${H}/a/sse`, name: 'a' });
  fake.surprise('GET /v1/gateways', { status: 429, body: {}, headers: { 'retry-after': '60' } });
  const { removed, left, awaited, stopped } = await on.gateway.removeLeftovers();
  assert.deepEqual({ removed, left, awaited }, { removed: [], left: 0, awaited: ['a'] });
  assert.match(stopped ?? '', /429/);
  await on.gateway.removeLeftovers();
  assert.deepEqual(rowsOf(fake), ['gateways a'], 'it belongs to the other version');
});

testOnSqlite('late: a server at a former address of its manifest is removed', async (t, address) => {
  const fake = await startFakeGateway(t);
  const on = await stage(t, address, fake);
  await on.ingest(aManifestWith('a'));
  await asked(on, uidOf('a'), { kind: 'gateways', id: `${H}/old/sse`, name: 'old a' });
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 1, failed: 0 });
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 0, failed: 0 }, 'it is not marked missing');
  fake.table.gateways.push(createRow('old a', { url: `${H}/old/sse`, transport: 'SSE' }));
  await on.sync();
  assert.deepEqual(rowsOf(fake), ['gateways a']);
  assert.deepEqual(await on.itemsOf(uidOf('a')), ['gateways a*']);
});

testOnSqlite('late: two versions at one address are distinguished by name', async (t, address) => {
  const fake = await startFakeGateway(t);
  const on = await stage(t, address, fake);
  await on.ingest(aManifestWith('a'));
  const at = { kind: 'gateways', id: `${H}/a/sse` };
  await asked(on, uidOf('a'), { ...at, name: 'a' });
  await asked(on, 'mcp_server:a@0.9.0', { ...at, name: 'a 0.9.0' });
  fake.table.gateways.push(createRow('a 0.9.0', { url: `${H}/a/sse`, transport: 'SSE' }));
  await on.sync();
  assert.deepEqual(rowsOf(fake), ['gateways a']);
  await assertRegistered(on, 'a', true);
});

testOnSqlite('late: a creation that completes during its retry belongs to the hub', async (t, address) => {
  const fake = await startFakeGateway(t, { generation: '1.0.3' });
  const on = await stage(t, address, fake);
  await on.ingest(aManifestWith('a'));
  fake.surprise('POST /gateways', { status: 504, body: '<html>Gateway Timeout</html>' });
  let posts = 0;
  fake.onCall(({ method }) => {
    if (method === 'POST') posts += 1;
    if (method === 'POST' && posts === 2)
      fake.table.gateways.push(createRow('a', { url: `${H}/a/sse`, transport: 'SSE' }));
  });
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 1, failed: 0 });
  assert.deepEqual([posts, await on.itemsOf(uidOf('a'))], [2, ['gateways a*']]);
});

testOnSqlite('late: an item of another entity with the same name is not taken over', async (t, address) => {
  const fake = await startFakeGateway(t);
  const on = await stage(t, address, fake);
  await on.ingest(aManifestWith('b', { tool: TOOL }));
  await on.sync();
  await on.ingest(aManifestWith('a', { tool: { ...TOOL, url: `${H}/other` } }));
  await asked(on, uidOf('a'), { kind: 'tools', id: 'own_tool', name: 'own_tool' });
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 0, failed: 1 });
  assert.match((await on.state(uidOf('a')))?.error ?? '', /a tool of this name for another server/);
  await on.remove(uidOf('a'));
  await on.sync();
  assert.ok(rowsOf(fake).includes('tools own_tool'), 'it still belongs to the other entity');
});

for (const generation of ['0.9', '1.0.8'] as const) {
  testOnSqlite(`changes: ${generation} accepts changes of a server whose tools changed`, async (t, address) => {
    const server = { transport: 'SSE', url: `${H}/a/sse`, headers: { 'X-Key': 'one' } };
    const fake = await startFakeGateway(t, { generation, servers: { [server.url]: { tools: ['one'] } } });
    const on = await stage(t, address, fake);
    await on.ingest(aManifestWith('a', { server }));
    await on.sync();
    fake.servers.set(`${H}/b/sse`, { tools: ['two'] });
    const moved = { ...server, url: `${H}/b/sse`, name: 'b', description: 'Second words.' };
    await on.ingest(aManifestWith('a', { server: moved }));
    assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 1, failed: 0 });
    const shown = () =>
      fake.table.gateways.map(({ originalName, fields }) => [originalName, fields.url, fields.description]);
    assert.deepEqual(shown(), [['b', `${H}/b/sse`, 'Second words.']]);

    fake.servers.set(`${H}/b/sse`, { tools: ['three'] });
    await on.ingest(aManifestWith('a', { server: { ...moved, headers: { 'X-Key': 'two' } } }));
    assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 1, failed: 0 });
    assert.deepEqual(fake.table.gateways[0]?.fields.auth_headers, [{ key: 'X-Key', value: 'two' }]);
    assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 0, failed: 0 });
  });
}

testOnSqlite('blocked: blocking during a registration leaves nothing of it', async (t, address) => {
  const fake = await startFakeGateway(t);
  const on = await stage(t, address, fake);
  await on.ingest(aManifestWith('a', PARTS));
  fake.onCall(async ({ method, path }) => {
    if (method === 'POST' && path.endsWith('/gateways')) await on.block(uidOf('a'));
  });
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 0, failed: 0 });
  assert.deepEqual(rowsOf(fake), []);
  await assertRegistered(on, 'a', false);
});

testOnSqlite('reconcile: items deleted in the gateway are registered again', async (t, address) => {
  const fake = await startFakeGateway(t, { generation: '0.9' });
  const on = await stage(t, address, fake);
  const template = { uri: 'memo://all', uri_template: 'memo://{id}', name: 'Memos', content: '' };
  await on.ingest(aManifestWith('a', { ...PARTS, resources: [RESOURCE, template] }), aManifestWith('b'));
  await on.sync();
  const all = rowsOf(fake);
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 0, failed: 0 }, 'all exist, even templates');

  fake.table.gateways = fake.table.gateways.filter(({ originalName }) => originalName !== 'b');
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 1, failed: 0 });
  assert.deepEqual(rowsOf(fake), all);
  await assertRegistered(on, 'b', true);
  const before = fake.table.gateways.map(({ id }) => id);
  fake.table.prompts = [];
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 1, failed: 0 });
  assert.deepEqual(rowsOf(fake), all);
  assert.deepEqual(
    fake.table.gateways.map(({ id }) => id),
    before,
    'the rest is unchanged',
  );
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 0, failed: 0 });
});

testOnEveryEngine('reconcile: a new, empty gateway gets everything', async (t, address) => {
  const [first, second] = [
    await startFakeGateway(t, { generation: '0.9' }),
    await startFakeGateway(t, { generation: '0.9' }),
  ];
  const on = await stage(t, address, first);
  await on.ingest(aManifestWith('a', PARTS), aManifestWith('b'));
  await on.sync();
  // Old gateways use numbers as ids, so an id means something else in another gateway.
  const [id] = first.table.prompts.map((row) => row.id);
  second.table.prompts.push(createRow('theirs', { template: 'x' }, { id }));
  const options = { effort: 'explicit', signal: new AbortController().signal } as const;
  const report = await on.again(second).registerPending(options);
  assert.deepEqual(report, { ranToEnd: true, registered: 2, failed: 0 });
  assert.deepEqual(rowsOf(second), [...rowsOf(first), 'prompts theirs'].toSorted());
  await on.remove(uidOf('a'), uidOf('b'));
  await on.again(second).removeLeftovers();
  assert.deepEqual(rowsOf(second), ['prompts theirs']);
});

testOnEveryEngine('reconcile: what has the same number in another gateway is not deleted', async (t, address) => {
  const [first, second] = [
    await startFakeGateway(t, { generation: '0.9' }),
    await startFakeGateway(t, { generation: '0.9' }),
  ];
  const on = await stage(t, address, first);
  await on.ingest(aManifestWith('a', PARTS));
  await on.sync();
  const [prompt, resource] = [first.table.prompts[0], first.table.resources[0]];
  second.table.prompts.push(createRow('theirs', { template: 'x' }, { id: prompt?.id, gatewayId: 'of-a-server' }));
  second.table.resources.push(createRow('Memo', { uri: RESOURCE.uri }, { id: resource?.id }));
  await on.ingest(aManifestWith('b', PARTS), aManifestWith('a', { tool: TOOL }));
  await on.again(second).registerOne(uidOf('a'));
  await on.remove(uidOf('a'));
  await on.again(second).removeLeftovers();
  assert.deepEqual([second.table.prompts.length, second.table.resources.length], [1, 1]);
});

testOnSqlite('reconcile: a failing list stops the run and clears nothing', async (t, address) => {
  const fake = await startFakeGateway(t);
  const on = await stage(t, address, fake);
  await on.ingest(aManifestWith('a', PARTS));
  await on.sync();
  const before = await on.itemsOf(uidOf('a'));
  fake.table.gateways = [];
  fake.onCall(({ method, path }) => {
    if (method === 'GET' && path === '/v1/prompts')
      fake.surprise(`GET ${path}`, { status: 500, body: { detail: 'busy' } });
  });
  await on.ingest(aServerManifest('due', { url: `${H}/due` }));
  const options = { effort: 'explicit', signal: new AbortController().signal } as const;
  const report = await on.gateway.registerPending(options);
  assert.deepEqual(report, { ranToEnd: false, registered: 0, failed: 1, stopped: 'The gateway answered 500: busy.' });
  assert.deepEqual(fake.table.gateways, [], 'nothing is registered');
  await assertRegistered(on, 'a', true);
  assert.deepEqual(await on.itemsOf(uidOf('a')), before);
  fake.onCall(undefined);
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 2, failed: 0 });
});

testOnSqlite('reconcile: a token of another tenant deletes nothing', async (t, address) => {
  const fake = await startFakeGateway(t);
  const on = await stage(t, address, fake);
  await on.ingest(aManifestWith('a', PARTS));
  await on.sync();
  const [rows, items] = [structuredClone(fake.table), await on.itemsOf(uidOf('a'))];
  fake.actAs('other');
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 0, failed: 1 });
  const { registered, error } = (await on.state(uidOf('a'))) ?? {};
  assert.equal(registered, null);
  assert.match(
    error ?? '',
    /Resource 'memo:\/\/one': .*409.* With this token, the hub cannot see who owns it in the gateway\./,
  );
  assert.deepEqual(fake.table.gateways, rows.gateways);
  fake.actAs('');
  await on.sync({ effort: 'explicit' });
  await assertRegistered(on, 'a', true);
  assert.deepEqual(await on.itemsOf(uidOf('a')), items, 'the hub still owns what it created');
});

testOnSqlite('changes: only fields that concern the gateway are sent and counted', async (t, address) => {
  const fake = await startFakeGateway(t, { servers: { [`${H}/a/sse`]: { headers: { 'X-Key': 'second' } } } });
  const on = await stage(t, address, fake);
  const manifest = (server: JsonObject, fields: JsonObject = {}) =>
    aServerManifest('a', { url: `${H}/a/sse`, ...server }, fields);
  await on.ingest(manifest({ headers: { 'X-Key': 'second', 'X-User': '{user}', 'X-Count': 3 } }));
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 1, failed: 0 });
  const posted = fake.calls.at(-1)?.body;
  assert.deepEqual([posted?.auth_type, posted?.auth_headers], ['authheaders', [{ key: 'X-Key', value: 'second' }]]);
  const { registered } = (await on.state(uidOf('a'))) ?? {};

  on.wait(1);
  await on.ingest(manifest({ headers: { 'X-Key': 'second' } }, { license: 'MIT' }));
  fake.calls.length = 0;
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 0, failed: 0 });
  assert.deepEqual(writes(fake), []);
  assert.equal((await on.state(uidOf('a')))?.registered, registered, 'recorded silently');

  await on.ingest(manifest({ headers: { 'X-Key': 'second' }, description: 'Other words.' }));
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 1, failed: 0 });
  assert.equal(fake.table.gateways[0]?.fields.description, 'Other words.');
  await on.ingest(manifest({ headers: { 'X-Key': 'third' }, description: 'Other words.' }));
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 0, failed: 1 }, 'the server refuses the new key');
  assert.doesNotMatch((await on.state(uidOf('a')))?.error ?? '', /third/);
  fake.servers.clear();
  assert.deepEqual(await on.sync({ effort: 'explicit' }), { ranToEnd: true, registered: 1, failed: 0 });
  fake.calls.length = 0;
  assert.deepEqual(await on.sync({ effort: 'force' }), { ranToEnd: true, registered: 0, failed: 0 });
  assert.deepEqual(writes(fake), []);
});

testOnSqlite('changes: apply to parts too', async (t, address) => {
  const fake = await startFakeGateway(t);
  const on = await stage(t, address, fake);
  await on.ingest(aManifestWith('a', PARTS));
  await on.sync();
  await on.ingest(aManifestWith('a', { ...PARTS, prompts: [{ ...PROMPT, description: 'Greets.' }] }));
  fake.calls.length = 0;
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 1, failed: 0 });
  assert.deepEqual(
    writes(fake).map((line) => line.replace(/[^/]+$/, '')),
    ['PUT /prompts/'],
  );
  assert.equal(fake.table.prompts[0]?.fields.description, 'Greets.');
});

testOnSqlite('changes: a new name is the first free one', async (t, address) => {
  const fake = await startFakeGateway(t);
  const on = await stage(t, address, fake);
  const named = (id: string, name: string) => aServerManifest(id, { url: `${H}/${id}/sse`, name });
  await on.ingest(named('a', 'One'), named('b', 'Two'));
  await on.sync();
  await on.ingest(named('a', 'two'));
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 1, failed: 0 });
  assert.deepEqual(rowsOf(fake), ['gateways Two', 'gateways two-1.0.0']);
  assert.deepEqual(await on.itemsOf(uidOf('a')), ['gateways two-1.0.0*']);
  await on.ingest(named('a', 'TWO'));
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 1, failed: 0 });
  assert.deepEqual(rowsOf(fake), ['gateways TWO-1.0.0', 'gateways Two'], 'its own row is not a conflict');
});

testOnSqlite('conflicts: two servers share a prompt, which 0.9 accepts once', async (t, address) => {
  const prompts = ['summarize'];
  const servers = { [`${H}/a/sse`]: { prompts }, [`${H}/b/sse`]: { prompts } };
  const fake = await startFakeGateway(t, { generation: '0.9', servers });
  const on = await stage(t, address, fake, { concurrency: 1 });
  await on.ingest(aManifestWith('a'), aManifestWith('b'));
  assert.deepEqual(await on.sync(), { ranToEnd: true, registered: 1, failed: 1 });
  assert.equal(
    (await on.state(uidOf('b')))?.error,
    'The gateway answered 409: A prompt with this name already exists. Another registered server has a prompt of the same name, and this version of the gateway accepts each only once.',
  );
  assert.deepEqual(writes(fake), ['POST /gateways', 'POST /gateways'], 'other names are not tried');
});

testOnSqlite(
  'effort: an explicit sync retries all but impossible servers, a background sync waits, force retries all',
  async (t, address) => {
    const fake = await startFakeGateway(t, { servers: { [`${H}/a/sse`]: { fault: 'refused' } } });
    const on = await stage(t, address, fake);
    await on.ingest(aManifestWith('a'), aServerManifest('stdio', { transport: 'STDIO' }));
    assert.deepEqual(await on.sync({ effort: 'explicit' }), { ranToEnd: true, registered: 0, failed: 2 });
    assert.match((await on.state(uidOf('stdio')))?.error ?? '', /local process/);
    assert.deepEqual(await on.sync({ effort: 'background' }), { ranToEnd: true, registered: 0, failed: 0 });
    assert.deepEqual(await on.sync({ effort: 'explicit' }), { ranToEnd: true, registered: 0, failed: 1 });
    assert.deepEqual(await on.sync({ effort: 'force' }), { ranToEnd: true, registered: 0, failed: 2 });
    fake.servers.clear();
    assert.deepEqual(await on.sync({ effort: 'explicit' }), { ranToEnd: true, registered: 1, failed: 0 });
  },
);

testOnSqlite('sync: reports a wrong token even when nothing is due', async (t, address) => {
  const fake = await startFakeGateway(t);
  const on = await stage(t, address, fake);
  await on.ingest(aManifestWith('a'));
  await on.sync();
  const wrong = await stage(t, address, fake, { client: { credentials: { jwtSecret: 'wrong' } } });
  const options = { effort: 'explicit', signal: new AbortController().signal } as const;
  const report = await wrong.gateway.registerPending(options);
  assert.equal(report?.ranToEnd, false);
  assert.match(report?.stopped ?? '', /^The gateway answered 401: .*JWT_SECRET_KEY/);
  await assertRegistered(on, 'a', true);
});
