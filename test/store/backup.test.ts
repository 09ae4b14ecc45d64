import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { createHub } from '../../src/hub/hub.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import { backupDatabase } from '../../src/store/backup.ts';
import { openDatabase } from '../../src/store/database.ts';
import { aManifest } from '../support/builders.ts';
import { emptyDatabase, tempDir } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';
import { testWorld } from '../support/world.ts';

test('backup: a copy made while the hub writes is a complete catalog', async (t) => {
  const { hub } = await testHub(t, { manifests: [aManifest()] });
  const file = join(await tempDir(t), 'copy.sqlite');
  const writing = hub.load(Array.from({ length: 500 }, (_, n) => ({ document: aManifest({ id: `t${n}` }) })));
  const { bytes } = await hub.backup(file);
  await writing;
  assert.ok(bytes > 10_000);
  assert.ok(!existsSync(`${file}.unfinished`));

  const world = testWorld();
  const copy = await createHub({ config: readConfig({ DB_PATH: file }), world, baseUrl: () => 'http://copy' });
  t.after(async () => {
    await copy.close();
    await world.close();
  });
  assert.equal((await copy.getEntity('mcp_server:pdf-tables')).version, '1.0.0');
  const { mcp_server } = await copy.countEntities();
  assert.ok(mcp_server === 1 || mcp_server === 501, `all of a change or nothing, not ${mcp_server}`);
});

test('backup: remains of a failed copy do not block the next one', async (t) => {
  const { hub } = await testHub(t);
  const file = join(await tempDir(t), 'copy.sqlite');
  await writeFile(`${file}.unfinished`, 'half');
  assert.ok((await hub.backup(file)).bytes > 0);
  await assert.rejects(hub.backup(join(file, 'not-a-folder', 'copy.sqlite')));
});

test('backup: refuses the database itself as destination', async (t) => {
  const path = join(await tempDir(t), 'catalog.sqlite');
  const database = await openDatabase({ engine: 'sqlite', path }, { metrics: createMetrics() });
  for (const file of [path, `${path}-wal`]) {
    await assert.rejects(backupDatabase(database, file), { code: 'invalid_request' });
    assert.ok(existsSync(file));
  }
  await database.close();
});

const skip = !process.env.TEST_DATABASE_URL && !process.env.CI ? '*** no PostgreSQL ***' : false;
test('backup: names PostgreSQL’s own tools', { skip }, async (t) => {
  const database = await openDatabase(await emptyDatabase(t, 'postgres'), { metrics: createMetrics() });
  await assert.rejects(backupDatabase(database, join(await tempDir(t), 'copy')), /postgres database cannot be copied/);
  await database.close();
});
