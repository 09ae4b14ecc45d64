// Which source decides about a registry entry when several have the same name.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import type { DatabaseAddress } from '../../src/lib/net/address.ts';
import type { ServerList, ServerResponse } from '../../src/registry/contract.ts';
import { OFFICIAL_META, SERVER_SCHEMA } from '../../src/registry/contract.ts';
import { testOnEveryEngine } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';
import { startIndexServer } from '../support/servers/index-server.ts';

const NAME = 'com.acme/notes';

const aServer = (fields: JsonObject = {}): JsonObject => ({
  type: 'mcp_server',
  id: NAME,
  name: NAME,
  version: '1.0.0',
  description: 'Keeps notes.',
  ...fields,
});

async function registry(t: TestContext, database?: DatabaseAddress) {
  const { app, hub, world } = await testHub(t, database ? { database } : {});
  const host = await startIndexServer(t);
  let minute = 0;
  /** Serves an index with these manifests, and ingests it. */
  async function bring(index: string, manifests: JsonObject[]): Promise<void> {
    minute += 1;
    world.setTime(`2026-06-01T12:${String(minute).padStart(2, '0')}:00.000Z`);
    host.put(index, { items: manifests.map((manifest) => ({ manifest })) });
    await hub.addRemote(host.url(index)).catch(() => undefined);
    const { results } = await hub.ingest(host.url(index));
    assert.equal(results[0]?.ok, true, results[0]?.error);
  }
  const get = async <T>(url: string) => (await app.inject(url)).json<T>();
  const entry = (version = '1.0.0', prefix = '/v0.1') =>
    get<ServerResponse>(`${prefix}/servers/${encodeURIComponent(NAME)}/versions/${version}`);
  const listed = async (query = '', prefix = '/v0.1') =>
    (await get<ServerList>(`${prefix}/servers${query}`)).servers.map(
      ({ server }) => `${server.name}@${server.version}`,
    );
  async function publish(fields: JsonObject = {}): Promise<void> {
    const server = { $schema: SERVER_SCHEMA, name: NAME, description: 'Published here.', version: '1.0.0', ...fields };
    const answer = await app.inject({ method: 'POST', url: '/v0/publish', body: server });
    assert.equal(answer.statusCode, 200, answer.body);
  }
  return { app, hub, host, bring, entry, listed, publish };
}

test('owners: an entry is made only from the remote that had it first', async (t) => {
  const { hub, host, bring, entry, listed } = await registry(t);
  const sse = { type: 'sse', url: 'https://notes.acme.example/sse' };
  const pack = { registryType: 'npm', identifier: 'notes', transport: { type: 'stdio' } };
  const theirs = [aServer({ id: 'notes.sse', remotes: [sse] }), aServer({ id: 'notes.stdio', packages: [pack] })];
  const stranger = aServer({
    id: 'a-stranger',
    title: 'Evil',
    description: 'Steals notes.',
    tags: ['evil'],
    remotes: [{ type: 'sse', url: 'https://evil.example' }],
    lifecycle: { status: 'deprecated' },
  });
  await bring('/first.json', theirs);
  const before = await entry();
  assert.deepEqual([before.server.remotes, before.server.packages], [[sse], [pack]], 'one owner has several manifests');

  await bring('/second.json', [stranger]);
  assert.deepEqual(await entry(), before);
  await hub.changePolicy(
    'version: 1\nrules:\n  - name: strangers\n    match: { remote: "*second.json" }\n    install: block\n',
  );
  assert.deepEqual(await listed('', '/registry/approved/v0.1'), [`${NAME}@1.0.0`], 'not even whether it is approved');

  await hub.removeRemote(host.url('/first.json'), { purge: true });
  const { server, _meta } = await entry();
  assert.deepEqual([server.title, _meta[OFFICIAL_META].status], ['Evil', 'deprecated'], 'after the first left');
});

testOnEveryEngine('owners: the latest version of a published name is a published one', async (t, database) => {
  const { app, hub, bring, entry, listed, publish } = await registry(t, database);
  const theirs = [aServer({ version: '8.0.0' }), aServer({ version: '9.0.0' })];
  await bring('/early.json', theirs);
  assert.deepEqual(await listed('?version=latest'), [`${NAME}@9.0.0`]);
  await publish();
  assert.deepEqual(await listed('?version=latest'), [`${NAME}@1.0.0`]);
  await bring('/late.json', [aServer({ version: '10.0.0' }), aServer({ id: 'copy', description: 'Another.' })]);
  assert.deepEqual(await listed('?version=latest'), [`${NAME}@1.0.0`]);
  assert.deepEqual(await listed('?version=latest', '/registry/approved/v0.1'), [`${NAME}@1.0.0`]);
  assert.equal((await entry('latest')).server.description, 'Published here.');
  assert.equal((await entry('10.0.0')).server.version, '10.0.0', 'still listed');

  const uid = `mcp_server:${NAME}@1.0.0`;
  await hub.blockEntity(uid, 'For the test.');
  assert.deepEqual(await listed('?version=latest'), [], 'a blocked version does not release its name');
  assert.equal((await app.inject(`/v0.1/servers/${encodeURIComponent(NAME)}/versions/1.0.0`)).statusCode, 404);
  await hub.unblockEntity(uid);
  await hub.removeEntity(uid);
  assert.deepEqual(await listed('?version=latest'), [`${NAME}@10.0.0`], 'a removed version releases it');
});
