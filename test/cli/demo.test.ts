import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entityFromManifest } from '../../src/catalog/entity.ts';
import { readDemoCatalog } from '../../src/cli/demo.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { aPlan, aSubject } from '../install/subjects.ts';
import { testHub } from '../support/hub.ts';

test('demo: has about thirty distinct entities of all three types', async () => {
  const entities = (await readDemoCatalog()).map(entityFromManifest);
  assert.ok(entities.length >= 28 && entities.length <= 40, `${entities.length}`);
  assert.equal(new Set(entities.map(({ uid }) => uid)).size, entities.length);
  for (const type of ['agent', 'tool', 'mcp_server']) {
    assert.ok(entities.filter((entity) => entity.type === type).length >= 5, type);
  }
});

test('demo: covers versions, odd dates, states, YAML and inline manifests; loading it twice changes nothing', async (t) => {
  const { app, hub, world } = await testHub(t);
  await hub.load(await readDemoCatalog());
  const { versions } = (await app.inject('/catalog/entities/mcp_server:postgres-reader@1.2.0')).json();
  assert.deepEqual(
    versions.map((each: { version: string }) => each.version),
    ['2.0.0-beta.1', '1.10.0', '1.2.0'],
  );
  const { items } = (await app.inject('/catalog?limit=500')).json();
  assert.deepEqual([...new Set(items.map(({ status }: { status: string }) => status))].toSorted(), [
    'active',
    'deprecated',
    'disabled',
  ]);
  assert.equal((await app.inject('/catalog/entities/tool:address-locator')).statusCode, 200, 'inline in the index');
  assert.equal((await app.inject('/catalog/entities/mcp_server:kitchen-shelf')).statusCode, 200, 'YAML');

  const updatedAt = (item: { updated_at: string }) => item.updated_at;
  world.setTime('2026-07-01T12:00:00.000Z');
  await hub.load(await readDemoCatalog());
  const again = (await app.inject('/catalog?limit=500')).json();
  assert.deepEqual(again.items.map(updatedAt), items.map(updatedAt));
});

test('demo: the three real servers can be planned and started', async () => {
  const documents = (await readDemoCatalog()).map(({ document }) => document as JsonObject);
  const real = documents.filter(({ name }) => String(name).startsWith('io.github.'));
  assert.equal(real.length, 3);
  for (const manifest of real) {
    const { artifacts, adapters } = await aPlan(aSubject(manifest), { clients: ['claude'] });
    assert.deepEqual(
      [...artifacts, ...adapters].map(({ fault }) => fault),
      [undefined, undefined],
    );
  }
});
