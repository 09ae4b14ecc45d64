// Packages of npm in a target that is on more than one filesystem, as volumes of containers make it.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { npmInstaller } from '../../../src/install/artifacts/npm.ts';
import { treeKey } from '../../../src/install/known-trees.ts';
import { unlessHere } from '../../support/programs.ts';
import { startNpmRegistry } from './npm-registry.ts';
import { stage } from './stage.ts';

const OTHER_FILESYSTEM = '/dev/shm';
const elsewhere = { skip: unlessHere('npm') || !isElsewhere(OTHER_FILESYSTEM) };

function isElsewhere(folder: string): boolean {
  const [found, own] = [folder, tmpdir()].map((each) => statSync(each, { throwIfNoEntry: false })?.dev);
  return found !== undefined && found !== own;
}

test('npm: a failed install costs nothing where node_modules is on another filesystem', elsewhere, async (t) => {
  const registry = await startNpmRegistry(t);
  registry.publish({ name: 'inner', version: '1.0.0', bin: { inner: 'index.js' } });
  registry.publish({ name: '@some/thing', version: '1.0.0', dependencies: { inner: '1.0.0' } });
  const place = await stage(t, { env: registry.env });
  const scratchDir = await mkdtemp(join(OTHER_FILESYSTEM, 'hub-scratch-'));
  t.after(() => rm(scratchDir, { recursive: true, force: true }));
  const spec = { registry: 'npm', package: '@some/thing', version: '1.0.0' };
  const {
    resolved,
    integrity,
    dependencies = [],
    trees = {},
  } = await place.install(npmInstaller, spec, { scratchDir });
  const files = await place.files();
  const knownTrees = new Map([
    [treeKey({ resolved, integrity }), 'another'],
    ...dependencies.map((each) => [treeKey(each), trees[each.resolved] ?? ''] as const),
  ]);
  const changed = ['inner', '@some/thing'].map((name) => `node_modules/${name}/index.js`);
  for (const file of changed) await appendFile(join(place.targetDir, file), '// mine');
  await rm(join(String(registry.env.HOME), '.npm'), { recursive: true });
  registry.host.put('/inner/-/inner-1.0.0.tgz', 'no tarball');
  assert.match(await place.failure(npmInstaller, spec, { scratchDir, knownTrees }), /not what it announced/);
  const hidden = 'node_modules/.package-lock.json';
  assert.deepEqual(
    await place.files(),
    files.filter((each) => each !== hidden),
  );
  for (const file of changed) assert.match(await place.read(file), /mine/);
  registry.publish({ name: 'inner', version: '1.0.0', bin: { inner: 'index.js' } });
  await place.install(npmInstaller, spec, { scratchDir, knownTrees });
  assert.deepEqual(await place.files(), files);
  for (const file of changed) assert.doesNotMatch(await place.read(file), /mine/);
});
