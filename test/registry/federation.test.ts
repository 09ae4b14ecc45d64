// Hubs that read each other over the registry protocol: entries spread to all of them, and so do deletions.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { asObject, type JsonObject } from '../../src/lib/json.ts';
import { HUBS_META, OFFICIAL_META } from '../../src/registry/contract.ts';
import { aManifest } from '../support/builders.ts';
import { emptyDatabase, openHere } from '../support/databases/databases.ts';
import { type TestHub, testHub } from '../support/hub.ts';
import { startIndexServer } from '../support/servers/index-server.ts';

interface FederatedHub extends TestHub {
  url: string;
}

const NOTES = {
  // Differs from the name that registries list, so copies have other ids.
  id: 'notes',
  name: 'org.example/notes',
  title: 'Notes',
  description: 'Keeps notes.',
  packages: [{ registryType: 'npm', identifier: 'notes', version: '1.0.0', transport: { type: 'stdio' } }],
  remotes: [{ type: 'streamable-http', url: 'https://notes.example.org/mcp' }],
};

async function startHub(t: TestContext, manifests: JsonObject[] = []) {
  const hub = await testHub(t, { manifests });
  return { ...hub, url: await hub.listen() };
}

/** Each hub reads the next one, and the last reads the first. */
async function startRing(t: TestContext, path = ''): Promise<FederatedHub[]> {
  const hubs = [
    await startHub(t, [aManifest(NOTES)]),
    await startHub(t, [aManifest({ id: 'maps', name: 'com.acme/maps' })]),
    await startHub(t),
  ];
  for (const [index, { hub }] of hubs.entries())
    await hub.addRemote(`${hubs[(index + 1) % hubs.length]?.url}${path}/v0.1/servers`);
  return hubs;
}

let minute = 0;

/** Syncs all of them, each reader after its source; returns the changes of each. */
async function syncAll(hubs: readonly FederatedHub[]): Promise<JsonObject[]> {
  const changes: JsonObject[] = [];
  for (const { hub, world } of hubs.toReversed()) {
    minute += 1;
    world.setTime(new Date(Date.parse('2026-06-02T00:00:00Z') + minute * 60_000).toISOString());
    const { results, errors } = await hub.syncRemotes();
    assert.deepEqual(errors, {});
    const { created, updated, missing } = results[0]?.stats ?? assert.fail();
    changes.push({ created, updated, missing });
  }
  return changes;
}

async function listed({ app }: FederatedHub, query = ''): Promise<{ server: JsonObject; _meta: JsonObject }[]> {
  return (await app.inject(`/v0.1/servers${query}`)).json().servers;
}

const namesIn = async (hub: FederatedHub) => (await listed(hub)).map(({ server }) => server.name);
const countIn = async ({ hub }: FederatedHub) =>
  (await hub.listCatalog({ text: '', sort: 'name', limit: 50, offset: 0 })).total;

test('federation: three hubs in a ring share their servers, and none comes back', async (t) => {
  const hubs = await startRing(t);
  const [first = assert.fail()] = hubs;
  for (let round = 0; round < 3; round += 1) await syncAll(hubs);

  const [entries = [], ...others] = await Promise.all(hubs.map((hub) => listed(hub)));
  assert.deepEqual(
    entries.map(({ server }) => server.name),
    ['com.acme/maps', 'org.example/notes'],
  );
  for (const other of others)
    assert.deepEqual(
      other.map(({ server }) => server),
      entries.map(({ server }) => server),
    );
  assert.deepEqual(await Promise.all(hubs.map(countIn)), [2, 2, 2], 'each entity once');
  const ways = await Promise.all(hubs.map(async (hub) => (await listed(hub))[1]?._meta[HUBS_META] as string[]));
  assert.deepEqual(
    ways.map((way) => way.length),
    [1, 3, 2],
    'from the first to the last, and from there to the second',
  );
  const nothing = { created: 0, updated: 0, missing: 0 };
  assert.deepEqual(await syncAll(hubs), [nothing, nothing, nothing], 'the ring has settled');

  await first.hub.removeEntity('mcp_server:notes@1.0.0');
  for (let round = 0; round < 2; round += 1) await syncAll(hubs);
  for (const hub of hubs) assert.deepEqual(await namesIn(hub), ['com.acme/maps']);
  const [, , last = assert.fail()] = hubs;
  const [, gone] = await listed(last, '?include_deleted=true');
  assert.partialDeepStrictEqual(gone?._meta[OFFICIAL_META], { status: 'deleted' });
  assert.deepEqual(await syncAll(hubs), [nothing, nothing, nothing]);
});

test('federation: a hub with the id of the reader is reported as such', async (t) => {
  const first = await startHub(t, [aManifest(NOTES)]);
  const [entry = assert.fail()] = await listed(first);
  const [hubId = ''] = entry._meta[HUBS_META] as string[];
  const database = await emptyDatabase(t, 'sqlite');
  const tables = await openHere(database);
  await tables.write.updateTable('registry_state').set({ hub_id: hubId }).execute();
  await tables.close();
  const copy = await testHub(t, { database, manifests: [aManifest({ id: 'maps', name: 'com.acme/maps' })] });

  await first.hub.addRemote(`${await copy.listen()}/v0.1/servers`);
  const { results } = await first.hub.ingest();
  assert.equal(results[0]?.ok, false);
  assert.match(results[0]?.error ?? '', /has the same id as this one.*copy of this hub's database.*docs\/registry\.md/);
});

test('federation: a hub passes on why a registry took a server down, as plain text of at most 500 characters', async (t) => {
  const host = await startIndexServer(t);
  const reader = await startHub(t);
  const serve = (official: JsonObject) => {
    const entry = { server: { name: 'com.acme/maps', version: '1.0.0', description: 'Maps.', remotes: NOTES.remotes } };
    host.put('/v0.1/servers', { servers: [{ ...entry, _meta: { [OFFICIAL_META]: official } }], metadata: {} });
  };
  const shown = async () => {
    const { missing_reason } = await reader.hub.getEntity('mcp_server:com.acme/maps@1.0.0');
    const [entry] = await listed(reader, '?include_deleted=true');
    const official = asObject(entry?._meta[OFFICIAL_META]);
    return { missing_reason, status: official.status, statusMessage: official.statusMessage };
  };
  await reader.hub.addRemote(host.url('/v0.1/servers'));
  serve({ status: 'active' });
  await syncAll([reader]);
  assert.equal((await shown()).status, 'active');

  const message = `<b>Malware</b>\u0000 ${'x'.repeat(600)}`;
  const kept = `<b>Malware</b> ${'x'.repeat(485)}`;
  serve({ status: 'deleted', statusMessage: message });
  await syncAll([reader]);
  assert.deepEqual(await shown(), { missing_reason: kept, status: 'deleted', statusMessage: kept });

  serve({ status: 'active' });
  await syncAll([reader]);
  assert.deepEqual(await shown(), { missing_reason: null, status: 'active', statusMessage: undefined });

  serve({ status: 'deleted' });
  await syncAll([reader]);
  const statusMessage = 'This hub no longer lists it.';
  assert.deepEqual(await shown(), { missing_reason: null, status: 'deleted', statusMessage }, 'no reason is given now');
});

test('federation: a hub reads a view of another one', async (t) => {
  const source = await startHub(t, [aManifest(NOTES), aManifest({ id: 'maps', name: 'com.acme/maps' })]);
  await source.hub.saveView({ name: 'team', description: '', names: ['com.acme/*'], approved: false });
  const reader = await startHub(t);
  await reader.hub.addRemote(`${source.url}/registry/team/v0.1/servers`);
  await syncAll([reader]);
  assert.deepEqual(await namesIn(reader), ['com.acme/maps']);
});
