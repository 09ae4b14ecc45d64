import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../src/config.ts';
import { HubError, StartError } from '../src/errors.ts';
import { createHub } from '../src/hub/hub.ts';
import { aManifest } from './support/builders.ts';
import { tempDir } from './support/databases/databases.ts';
import { until } from './support/until.ts';
import { testWorld } from './support/world.ts';

test('hub: loaded entities can be read and counted', async (t) => {
  const { hub } = await aHub(t);
  assert.deepEqual(await hub.countEntities(), { agent: 0, tool: 0, mcp_server: 0 });
  await hub.load([{ document: aManifest() }, { document: aManifest({ type: 'agent', id: 'helper' }) }]);
  assert.deepEqual(await hub.countEntities(), { agent: 1, tool: 0, mcp_server: 1 });
  assert.equal((await hub.getEntity('agent:helper')).uid, 'agent:helper@1.0.0');
  assert.deepEqual(JSON.parse((await hub.getManifest('mcp_server:pdf-tables')).text), aManifest());
  const page = await hub.listCatalog({ text: 'pdf', sort: 'name', limit: 1, offset: 0 });
  assert.deepEqual([page.items.length, page.total], [1, 2]);
});

test('hub: an unreadable manifest is an error and does not affect the others', async (t) => {
  const { hub } = await aHub(t);
  const sources = [{ document: aManifest() }, { document: { type: 'robot' } }];
  await assert.rejects(hub.load(sources), { name: 'HubError', code: 'invalid_manifest' });
  assert.equal((await hub.countEntities()).mcp_server, 1);
});

test('hub: its address is read when needed, because the port is known late', async (t) => {
  let address = '';
  const { hub } = await aHub(t, () => address);
  await hub.load([{ document: aManifest() }]);
  address = 'http://127.0.0.1:8443';
  assert.equal((await hub.config()).base_url, address);
  const { manifest_url } = await hub.getEntity('mcp_server:pdf-tables');
  assert.equal(manifest_url, `${address}/catalog/manifest/mcp_server:pdf-tables@1.0.0`);
});

test('hub: an unknown entity is an error with a code', async (t) => {
  const { hub } = await aHub(t);
  for (const read of [hub.getEntity, hub.getManifest]) {
    await assert.rejects(
      read('tool:unknown'),
      (error) => error instanceof HubError && error.code === 'entity_not_found',
    );
  }
});

test('hub: reports its database as closed after closing; closing again does nothing', async (t) => {
  const { hub, world } = await aHub(t);
  assert.equal((await hub.health({ checkDb: true })).db, 'ok');
  await hub.close();
  await hub.close();
  // The check may reuse a recent answer of the database.
  await sleep(100);
  const { status, db } = await hub.health({ checkDb: true });
  assert.deepEqual([status, db], ['error', 'error']);
  assert.equal((await hub.health({ checkDb: false })).status, 'ok');
  assert.equal(world.logged.at(-1)?.message, 'The database does not answer');
});

test('hub: an install requested while it closes does not start', async (t) => {
  const { hub } = await aHub(t);
  await hub.stopWork();
  const target = join(await tempDir(t), 'project');
  const request = { id: 'mcp_server:pdf-tables', target, manifest: aManifest(), dry_run: false, frozen: false };
  await assert.rejects(hub.install(request), { name: 'HubError', message: /shutting down/ });
});

test('hub: search pauses its background work during an install, which needs the memory', async (t) => {
  const { hub, world } = await aHub(t);
  const downloads = Promise.withResolvers<never>();
  const asked = Promise.withResolvers<void>();
  world.download = () => {
    asked.resolve();
    return downloads.promise;
  };
  const artifacts = [{ kind: 'zip', spec: { url: 'http://archives.test/a.zip' } }];
  const target = join(await tempDir(t), 'project');
  const installing = hub.install({
    id: 'mcp_server:pdf-tables',
    target,
    manifest: aManifest({ artifacts }),
    dry_run: false,
    frozen: false,
  });
  await asked.promise;
  await sleep(2_200);
  const inIndex = async () => /hub_search_index\{of="entities"\} (\d+)/.exec((await world.metrics.render()).text)?.[1];
  assert.equal(await inIndex(), '0');
  downloads.reject(new Error('The line is cut.'));
  assert.equal((await installing).ok, false);
  await until(async () => (await inIndex()) === '1');
});

test('hub: an unusable database stops the start with one line', async () => {
  const config = readConfig({ DB_PATH: join(import.meta.filename, 'catalog.sqlite') });
  const world = testWorld();
  const starting = createHub({ config, world, baseUrl: () => '' });
  await assert.rejects(starting, (error) => error instanceof StartError && !error.message.includes('\n'));
  await world.close();
});

async function aHub(t: TestContext, baseUrl = () => 'http://hub.test') {
  const world = testWorld();
  const config = readConfig({ DB_PATH: join(await tempDir(t), 'catalog.sqlite') });
  const hub = await createHub({ config, world, baseUrl });
  t.after(async () => {
    await hub.close();
    await world.close();
  });
  return { hub, world };
}
