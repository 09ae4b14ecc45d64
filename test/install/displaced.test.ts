// Two entities in one target that need different versions of one package.
import assert from 'node:assert/strict';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { WINDOWS } from '../../src/install/artifacts/pypi-python.ts';
import type { InstallReport, LockReport } from '../../src/install/contract.ts';
import { findDisplaced } from '../../src/install/displaced.ts';
import { verifyLockfile } from '../../src/install/verify/verify.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { createRun } from '../../src/lib/run.ts';
import { aManifest } from '../support/builders.ts';
import { unlessHere } from '../support/programs.ts';
import { startNpmRegistry } from './artifacts/npm-registry.ts';
import { startPackageIndex } from './artifacts/package-index.ts';
import { describePackages } from './artifacts/python-packages.ts';
import { aFolder, installStage, stepNamed } from './installing.ts';

const entity = (id: string, kind: string, spec: JsonObject): JsonObject =>
  aManifest({ type: 'tool', id, name: id, artifacts: [{ kind, spec }] });

async function verify(target: string): Promise<LockReport | undefined> {
  return verifyLockfile({ target, run: createRun(process.env), signal: new AbortController().signal });
}

/** `ok` of the only artifact of each entity, by the lockfile. */
function inPlace({ lockfile }: InstallReport): Record<string, boolean | undefined> {
  return Object.fromEntries(lockfile.entities.map(({ name, artifacts }) => [name, artifacts[0]?.ok]));
}

const KINDS = {
  pypi: { step: 'pypi.install', kind: 'pypi', sign: '==', skip: unlessHere('python3') },
  npm: { step: 'npm.install', kind: 'other', sign: '@', skip: unlessHere('npm') },
} as const;

for (const [name, { step, kind, sign, skip }] of Object.entries(KINDS)) {
  test(`displaced: another version of a package from ${name} is told, and the lockfile says whose is gone`, {
    skip,
  }, async (t) => {
    const index = await startPackageIndex(t);
    const registry = await startNpmRegistry(t);
    for (const version of ['1.0.0', '2.0.0']) {
      index.publish({ name: 'thing', version });
      registry.publish({ name: 'thing', version });
    }
    const specs = { pypi: { index_url: index.url }, npm: { registry: 'npm', registry_url: registry.host.url('/') } };
    const of = (id: string, version: string) =>
      entity(id, kind, { package: 'thing', version, ...specs[name as keyof typeof specs] });
    const { install, target } = await installStage(t);

    await install(of('a', '1.0.0'));
    const report = await install(of('b', '2.0.0'));
    assert.equal(report.ok, true, JSON.stringify(report.results));
    assert.deepEqual(inPlace(report), { a: false, b: true });
    const ofNpm = name === 'npm' ? ['package.json', 'package-lock.json'] : [];
    assert.deepEqual(report.files_written, [...ofNpm, 'hub.lock.json']);
    const { warning, displaced } = stepNamed(report, step).extra ?? {};
    assert.match(
      String(warning),
      new RegExp(
        `With thing${sign}2\\.0\\.0, .* thing${sign}1\\.0\\.0 of tool:a@1\\.0\\.0 .*Install tool:a@1\\.0\\.0 again, `,
      ),
    );
    assert.deepEqual(displaced, [{ id: 'tool:a@1.0.0', resolved: `thing${sign}1.0.0` }]);
    const checks = (await verify(target))?.checks ?? [];
    assert.deepEqual(
      checks.map(({ entity: id, outcome }) => [id, outcome]),
      [
        ['tool:a@1.0.0', 'missing'],
        ['tool:b@1.0.0', 'same'],
      ],
    );
    assert.match(checks[0]?.reason ?? '', /went when tool:b@1\.0\.0 was installed .* into another target/);
    await assert.rejects(install(of('a', '1.0.0'), { frozen: true }), {
      code: 'lockfile_mismatch',
      message: /in place, since 'tool:b@1\.0\.0' was installed into the same environment\. Install without frozen/,
    });

    if (name === 'pypi') return;
    const back = await install(of('a', '1.0.0'));
    assert.deepEqual(inPlace(back), { a: true, b: false });
    assert.equal(back.lockfile.entities[0]?.artifacts[0]?.displaced_by, undefined);
    const upgraded = await install(of('b', '1.0.0'));
    assert.deepEqual(inPlace(upgraded), { a: true, b: true }, 'one version does for both');
    assert.equal(stepNamed(upgraded, step).extra?.warning, undefined);
  });
}

test('displaced: an environment that had to be made anew has lost what was in it; when the install fails, it stays', {
  skip: KINDS.pypi.skip || WINDOWS,
}, async (t) => {
  const index = await startPackageIndex(t);
  index.publish({ name: 'thing', version: '1.0' });
  const { install, target, read } = await installStage(t);
  const lockfile = {
    version: 1,
    entities: ['one', 'gone'].map((name) => ({
      ...{ id: `tool:${name}@1.0.0`, type: 'tool', name, version: '1.0.0', adapters: [] },
      artifacts: [{ kind: 'pypi', spec: { package: name }, ...pinned(name), path: '.venv', ok: true }],
      provenance: { manifest_url: null, source_url: null, manifest_digest: `sha256:${'0'.repeat(64)}` },
    })),
  };
  await describePackages(target, { one: '1.0' });
  await mkdir(join(target, '.venv/bin'));
  // As when the machine got another Python.
  await symlink('/nowhere/python3', join(target, '.venv/bin/python'));
  await writeFile(join(target, 'hub.lock.json'), JSON.stringify(lockfile));
  const failed = await install(entity('new', 'pypi', { package: 'not-there', index_url: index.url }));
  assert.equal(failed.ok, false);
  assert.deepEqual(inPlace(failed), { gone: true, new: false, one: true });
  const { error, warning, output } = stepNamed(failed, 'pypi.install').extra ?? {};
  assert.match(String(error), /no such package/);
  assert.equal(warning, undefined);
  assert.ok(output);

  const made = await install(entity('new', 'pypi', { package: 'thing', index_url: index.url }));
  // What was not there before was not lost now.
  assert.deepEqual(inPlace(made), { gone: true, new: true, one: false });
  assert.match(await read('hub.lock.json'), /"displaced_by": "tool:new@1\.0\.0"/);
  const told = stepNamed(made, 'pypi.install').extra?.warning;
  assert.match(String(told), /With thing==1\.0, this target does not have one==1\.0 of tool:one@1\.0\.0 any more/);
});

test('displaced: what a package needs counts as well', async (t) => {
  const target = await aFolder(t);
  const artifact = { kind: 'pypi', spec: { package: 'thing' }, ...pinned('thing'), path: '.venv', ok: true };
  const ofA = { id: 'tool:a@1.0.0', artifact: { ...artifact, dependencies: [pinned('inner')] } };
  await describePackages(target, { thing: '1.0', inner: '1.0' });
  assert.deepEqual(await findDisplaced([ofA], 'pypi', target), []);
  await rm(join(target, '.venv'), { recursive: true });
  await describePackages(target, { thing: '1.0', inner: '2.0' });
  assert.deepEqual(await findDisplaced([ofA], 'pypi', target), [ofA]);
});

const pinned = (name: string) => ({ resolved: `${name}==1.0`, integrity: `sha256:${'1'.repeat(64)}` });
