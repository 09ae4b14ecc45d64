// Packages of an earlier version that nothing needs any more.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { aManifest } from '../support/builders.ts';
import { unlessHere } from '../support/programs.ts';
import { startNpmRegistry } from './artifacts/npm-registry.ts';
import { startPackageIndex } from './artifacts/package-index.ts';
import { installStage, stepNamed } from './installing.ts';

test('leftovers: a package of npm that a new version does not have is told, unless another entity needs it', {
  skip: unlessHere('npm'),
}, async (t) => {
  const registry = await startNpmRegistry(t);
  for (const name of ['old', 'shared', 'new']) registry.publish({ name, version: '1.0.0' });
  const artifact = (name: string) => ({
    kind: 'other',
    spec: { registry: 'npm', package: name, registry_url: registry.host.url('/') },
  });
  const { install } = await installStage(t);
  const entity = (id: string, version: string, names: string[]): JsonObject =>
    aManifest({ type: 'tool', id, name: id, version, artifacts: names.map(artifact) });
  await install(entity('a', '1.0.0', ['old', 'shared']));
  await install(entity('b', '1.0.0', ['shared']));
  const report = await install(entity('a', '2.0.0', ['new']));
  assert.equal(report.ok, true, JSON.stringify(report.results));
  const { left, warning } = stepNamed(report, 'lockfile.write').extra ?? {};
  assert.deepEqual(
    (left as { path: string }[]).map(({ path }) => path),
    ['node_modules/old (old@1.0.0)'],
  );
  assert.match(String(warning), /nothing in hub\.lock\.json needs it any more/);
  const again = await install(entity('a', '2.0.0', ['new']));
  assert.deepEqual(stepNamed(again, 'lockfile.write').extra, { path: 'hub.lock.json' });
});

test('leftovers: so is a package of Python, with what came along', { skip: unlessHere('python3') }, async (t) => {
  const index = await startPackageIndex(t);
  index.publish({ name: 'dep', version: '1.0' });
  index.publish({ name: 'old', version: '1.0', requires: ['dep'] });
  index.publish({ name: 'new', version: '1.0' });
  const { install } = await installStage(t);
  const entity = (version: string, name: string): JsonObject =>
    aManifest({ version, artifacts: [{ kind: 'pypi', spec: { package: name, index_url: index.url } }] });
  await install(entity('1.0.0', 'old'));
  const report = await install(entity('2.0.0', 'new'));
  assert.equal(report.ok, true, JSON.stringify(report.results));
  const left = stepNamed(report, 'lockfile.write').extra?.left as { path: string }[];
  assert.deepEqual(left.map(({ path }) => path).toSorted(), ['.venv (dep==1.0)', '.venv (old==1.0)']);
});
