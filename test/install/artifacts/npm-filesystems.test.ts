// Packages of npm in a target that is on more than one filesystem, as volumes of containers make it.
import assert from 'node:assert/strict';
import { type PathLike, realpathSync } from 'node:fs';
import fs, { appendFile, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { type TestContext, test } from 'node:test';
import { npmInstaller } from '../../../src/install/artifacts/npm.ts';
import { treeKey } from '../../../src/install/known-trees.ts';
import { unlessHere } from '../../support/programs.ts';
import { startNpmRegistry } from './npm-registry.ts';
import { stage } from './stage.ts';

/** What the system says when something would be moved from one filesystem to another: here, `node_modules` is one, and the target. */
function areApart(t: TestContext, targetDir: string): void {
  const rename = fs.rename.bind(fs);
  const filesystemOf = (path: PathLike) => {
    const folder = realpathSync(dirname(String(path)));
    const volumes = [join(targetDir, 'node_modules'), targetDir];
    return volumes.find((volume) => folder === volume || folder.startsWith(`${volume}${sep}`)) ?? 'another';
  };
  t.mock.method(fs, 'rename', async (from: PathLike, to: PathLike) => {
    if (filesystemOf(from) !== filesystemOf(to))
      throw Object.assign(new Error('EXDEV: cross-device link not permitted'), { code: 'EXDEV' });
    return rename(from, to);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

test('npm: a failed install costs nothing where node_modules is on another filesystem', {
  skip: unlessHere('npm'),
}, async (t) => {
  const registry = await startNpmRegistry(t);
  registry.publish({ name: 'inner', version: '1.0.0', bin: { inner: 'index.js' } });
  registry.publish({ name: '@some/thing', version: '1.0.0', dependencies: { inner: '1.0.0' } });
  const place = await stage(t, { env: registry.env });
  areApart(t, place.targetDir);
  const spec = { registry: 'npm', package: '@some/thing', version: '1.0.0' };
  const { resolved, integrity, dependencies = [], trees = {} } = await place.install(npmInstaller, spec);
  const files = await place.files();
  const knownTrees = new Map([
    [treeKey({ resolved, integrity }), 'another'],
    ...dependencies.map((each) => [treeKey(each), trees[each.resolved] ?? ''] as const),
  ]);
  const changed = ['inner', '@some/thing'].map((name) => `node_modules/${name}/index.js`);
  for (const file of changed) await appendFile(join(place.targetDir, file), '// mine');
  await rm(join(String(registry.env.HOME), '.npm'), { recursive: true });
  registry.host.put('/inner/-/inner-1.0.0.tgz', 'no tarball');
  assert.match(await place.failure(npmInstaller, spec, { knownTrees }), /not what it announced/);
  assert.deepEqual(await place.files(), files);
  for (const file of changed) assert.match(await place.read(file), /mine/);
  registry.publish({ name: 'inner', version: '1.0.0', bin: { inner: 'index.js' } });
  await place.install(npmInstaller, spec, { knownTrees });
  assert.deepEqual(await place.files(), files);
  for (const file of changed) assert.doesNotMatch(await place.read(file), /mine/);
});
