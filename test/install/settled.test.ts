// Several packages of one manifest that share an environment, and need different versions of one package.
import assert from 'node:assert/strict';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { InstalledArtifact } from '../../src/install/artifacts/artifact-installer.ts';
import { lockEntry } from '../../src/install/lock-entry.ts';
import { movedExtra, settle } from '../../src/install/settled.ts';
import { verifyLockfile } from '../../src/install/verify/verify.ts';
import { createRun } from '../../src/lib/run.ts';
import { aManifest } from '../support/builders.ts';
import { unlessHere } from '../support/programs.ts';
import { startNpmRegistry } from './artifacts/npm-registry.ts';
import { describePackages } from './artifacts/python-packages.ts';
import { aFolder, installStage } from './installing.ts';
import { aSubject } from './subjects.ts';

test('settled: the lockfile has what npm made of several packages, again, frozen and in another folder too', {
  skip: unlessHere('npm'),
}, async (t) => {
  const registry = await startNpmRegistry(t);
  for (const version of ['1.2.0', '1.5.0']) registry.publish({ name: 'dep', version });
  registry.publish({ name: 'thing', version: '1.0.0', dependencies: { dep: '^1.0.0' } });
  const spec = (name: string, version: string) => ({
    kind: 'other',
    spec: { registry: 'npm', package: name, version, registry_url: registry.host.url('/') },
  });
  const manifest = aManifest({ artifacts: [spec('thing', '1.0.0'), spec('dep', '1.2.0')] });
  const { install, read, target } = await installStage(t);
  const report = await install(manifest);
  const [thing, dep] = report.lockfile.entities[0]?.artifacts ?? [];
  assert.deepEqual(
    [thing?.resolved, thing?.dependencies, dep?.resolved],
    ['thing@1.0.0', [{ resolved: 'dep@1.2.0', integrity: dep?.integrity }], 'dep@1.2.0'],
  );
  const verified = await verifyLockfile({ target, run: createRun(process.env), signal: new AbortController().signal });
  assert.deepEqual(
    verified?.checks.map(({ outcome }) => outcome),
    ['same', 'same'],
  );

  const text = await read('hub.lock.json');
  await install(manifest);
  assert.equal(await read('hub.lock.json'), text);

  const elsewhere = join(target, '..', 'elsewhere');
  await mkdir(elsewhere);
  await cp(join(target, 'hub.lock.json'), join(elsewhere, 'hub.lock.json'));
  const frozen = await install(manifest, { target: elsewhere, frozen: true });
  assert.equal(frozen.ok, true, JSON.stringify(frozen.results));
});

const digest = (digit: string) => `sha256:${digit.repeat(64)}`;
const ofPypi = (name: string, version?: string) => ({
  ...{ kind: 'pypi', step: 'pypi.install', command: name, reason: 'r' },
  spec: { package: name, version },
});
function installed(resolved: string, digit: string, dependencies: InstalledArtifact['dependencies'] = []) {
  return { resolved, integrity: digest(digit), path: '.venv', dependencies };
}

test('settled: Python packages of one install are locked as the last of them left them', async (t) => {
  const target = await aFolder(t);
  await describePackages(target, { thing: '1.0', inner: '2.0', free: '3.0' });
  const outcomes = [
    {
      planned: ofPypi('thing'),
      installed: installed('thing==1.0', '1', [{ resolved: 'inner==1.0', integrity: digest('2') }]),
    },
    { planned: ofPypi('free'), installed: installed('free==4.0', '3') },
    { planned: ofPypi('inner', '1.0'), installed: installed('inner==1.0', '2') },
  ];
  const newest = installed('inner==2.0', '4', [{ resolved: 'free==3.0', integrity: digest('5') }]);
  const settled = await settle(outcomes, { kind: 'pypi', installed: newest }, target);
  const { artifacts } = lockEntry(aSubject({ type: 'tool', id: 'a' }), settled.outcomes, []);
  assert.deepEqual(
    artifacts.map(({ resolved, integrity, ok, displaced_by, dependencies }) => ({
      ...{ resolved, integrity, ok, displaced_by, dependencies },
    })),
    [
      {
        ...{ resolved: 'thing==1.0', integrity: digest('1'), ok: true, displaced_by: undefined },
        dependencies: [{ resolved: 'inner==2.0', integrity: digest('4') }],
      },
      // Any version does for its manifest.
      { resolved: 'free==3.0', integrity: digest('5'), ok: true, displaced_by: undefined, dependencies: undefined },
      // This one asked for another.
      {
        resolved: 'inner==1.0',
        integrity: digest('2'),
        ok: false,
        displaced_by: 'tool:a@1.0.0',
        dependencies: undefined,
      },
    ],
  );
  assert.match(
    String(movedExtra(settled.moved, 'inner==2.0').warning),
    /^With inner==2\.0, this target has inner==2\.0 instead of inner==1\.0, free==3\.0 instead of free==4\.0, because/,
  );
  assert.deepEqual(movedExtra([], 'inner==2.0'), {});
});
