// Packages of npm that somebody changed since they were installed.
import assert from 'node:assert/strict';
import { appendFile, cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { npmInstaller } from '../../../src/install/artifacts/npm.ts';
import { LOCKFILE_NAME } from '../../../src/install/contract.ts';
import { treeKey } from '../../../src/install/known-trees.ts';
import { verifyLockfile } from '../../../src/install/verify/verify.ts';
import { treeDigest } from '../../../src/lib/file-digest.ts';
import { createRun } from '../../../src/lib/run.ts';
import { aManifest } from '../../support/builders.ts';
import { unlessHere } from '../../support/programs.ts';
import { type InstallStage, installStage, stepNamed } from '../installing.ts';
import { startNpmRegistry } from './npm-registry.ts';
import { stage } from './stage.ts';

const options = { skip: unlessHere('npm') };

async function installed(t: TestContext) {
  const registry = await startNpmRegistry(t);
  registry.publish({ name: 'inner', version: '1.0.0', bin: { inner: 'index.js' } });
  registry.publish({ name: '@some/deep', version: '1.0.0', dependencies: { inner: '1.0.0' } });
  registry.publish({ name: 'thing', version: '1.0.0', dependencies: { '@some/deep': '1.0.0' } });
  const spec = { registry: 'npm', package: 'thing', version: '1.0.0', registry_url: registry.host.url('/') };
  const manifest = aManifest({ artifacts: [{ kind: 'other', spec }] });
  const place = await installStage(t);
  const report = await place.install(manifest);
  assert.ok(report.ok, JSON.stringify(report.results));
  const whole = { tree: await treeDigest(place.target), lockfile: await place.read(LOCKFILE_NAME) };
  return { ...place, registry, manifest, whole };
}

async function told(target: string): Promise<string[]> {
  const signal = new AbortController().signal;
  const report = await verifyLockfile({ target, run: createRun(process.env), signal });
  return (report?.checks ?? []).map(({ outcome, reason }) => [outcome, reason].filter(Boolean).join(': '));
}

async function assertWhole({ target, read }: InstallStage, whole: { tree: string; lockfile: string }) {
  assert.equal(await read(LOCKFILE_NAME), whole.lockfile);
  assert.equal(await treeDigest(target), whole.tree);
  assert.deepEqual(await told(target), ['same']);
}

test('npm: what was changed in a package or in what it needs is told, and fetched anew', options, async (t) => {
  const { manifest, whole, ...first } = await installed(t);
  const { target, install } = first;
  const modules = join(target, 'node_modules');
  await assertWhole(first, whole);
  const [artifact] = JSON.parse(whole.lockfile).entities[0].artifacts;
  assert.deepEqual(Object.keys(artifact.trees), ['@some/deep@1.0.0', 'inner@1.0.0']);

  const changes: [change: () => Promise<unknown>, told: RegExp, repaired: string[]][] = [
    [() => appendFile(join(modules, 'thing/index.js'), '//'), /^different: files in the folder/, ['thing@1.0.0']],
    [() => writeFile(join(modules, 'thing/extra.js'), ''), /^different: files in the folder/, ['thing@1.0.0']],
    [() => appendFile(join(modules, 'inner/index.js'), '//'), /^different: files of inner@1\.0\.0 in/, ['inner@1.0.0']],
    [() => rm(join(modules, '@some/deep/index.js')), /^different: files of @some\/deep@1/, ['@some/deep@1.0.0']],
    [() => rm(join(modules, 'inner'), { recursive: true }), /^missing: inner@1\.0\.0, which it needs, is gone/, []],
    [
      async () => {
        await rm(join(modules, 'inner'), { recursive: true });
        await symlink(target, join(modules, 'inner'));
      },
      /^different: files of inner@1/,
      ['inner@1.0.0'],
    ],
  ];
  for (const [index, [change, expected, repaired]] of changes.entries()) {
    await change();
    assert.match((await told(target))[0] ?? '', expected);
    const report = await install(manifest, { frozen: index % 2 === 0 });
    assert.ok(report.ok, JSON.stringify(report.results));
    assert.deepEqual(stepNamed(report, 'npm.install').extra?.repaired ?? [], repaired);
    await assertWhole(first, whole);
  }
});

test('npm: of what was there before anything was locked, nothing is taken for a package', options, async (t) => {
  const { manifest, whole, ...first } = await installed(t);
  const changed = ['inner', 'thing'].map((name) => `node_modules/${name}/index.js`);
  const before = async (forget: (lockfile: string) => Promise<void>) => {
    const place = await installStage(t);
    await cp(first.target, place.target, { recursive: true });
    await forget(join(place.target, LOCKFILE_NAME));
    for (const file of changed) await appendFile(join(place.target, file), '//');
    return place;
  };

  const frozen = await before(forgetTrees);
  const renewed = await frozen.install(manifest, { frozen: true });
  assert.ok(renewed.ok, JSON.stringify(renewed.results));
  for (const file of changed) assert.equal(await frozen.read(file), 'module.exports = 1;\n');

  const plain = await before((lockfile) => rm(lockfile));
  await rm(join(plain.target, 'node_modules/@some'), { recursive: true });
  for (const _turn of ['first', 'again']) {
    const report = await plain.install(manifest);
    assert.ok(report.ok, JSON.stringify(report.results));
    for (const file of changed) assert.match(await plain.read(file), /\/\/$/);
    const { warning, repaired } = stepNamed(report, 'npm.install').extra ?? {};
    assert.match(
      String(warning),
      /^thing@1\.0\.0 in node_modules\/thing, inner@1\.0\.0 in node_modules\/inner were there before and were not checked/,
    );
    assert.equal(repaired, undefined);
    const [artifact] = JSON.parse(await plain.read(LOCKFILE_NAME)).entities[0].artifacts;
    const [{ tree, trees, ...rest }] = JSON.parse(whole.lockfile).entities[0].artifacts;
    assert.ok(tree);
    assert.deepEqual(artifact, { ...rest, trees: { '@some/deep@1.0.0': trees['@some/deep@1.0.0'] } });
    assert.deepEqual(await told(plain.target), ['same']);
  }
  const last = await plain.install(manifest, { frozen: true });
  assert.ok(last.ok, JSON.stringify(last.results));
  for (const file of changed) assert.equal(await plain.read(file), 'module.exports = 1;\n');
});

test('npm: what a project had in another version is replaced, and known', options, async (t) => {
  const { manifest, whole, registry } = await installed(t);
  const place = await installStage(t);
  registry.publish({ name: 'inner', version: '0.9.0' });
  const older = { registry: 'npm', package: 'inner', version: '0.9.0', registry_url: registry.host.url('/') };
  assert.ok((await place.install(aManifest({ artifacts: [{ kind: 'other', spec: older }] }))).ok);
  for (const path of [LOCKFILE_NAME, 'package.json', 'package-lock.json']) await rm(join(place.target, path));
  const report = await place.install(manifest);
  assert.equal(stepNamed(report, 'npm.install').extra?.warning, undefined);
  assert.equal(await place.read(LOCKFILE_NAME), whole.lockfile);
});

test('npm: what one artifact of an install brought is known to the next', options, async (t) => {
  const { registry, manifest } = await installed(t);
  registry.publish({ name: 'other', version: '1.0.0', dependencies: { inner: '1.0.0' } });
  registry.publish({ name: 'mine', version: '1.0.0' });
  registry.publish({ name: 'more', version: '1.0.0', dependencies: { mine: '1.0.0' } });
  const url = registry.host.url('/');
  const artifact = (name: string) => ({
    kind: 'other',
    spec: { registry: 'npm', package: name, version: '1.0.0', registry_url: url },
  });
  const { install, target, read } = await installStage(t);
  await install(aManifest({ artifacts: [artifact('mine')] }));
  await rm(join(target, LOCKFILE_NAME));
  const artifacts = [...((manifest.artifacts ?? []) as object[]), artifact('more'), artifact('other')];
  const report = await install(aManifest({ artifacts }));
  assert.deepEqual(
    report.results.filter(({ step }) => step === 'npm.install').map(({ extra }) => Boolean(extra?.warning)),
    [false, true, false],
  );
  const locked = JSON.parse(await read(LOCKFILE_NAME)).entities[0].artifacts;
  assert.deepEqual(
    locked.map(({ trees = {} }: { trees?: object }) => Object.keys(trees)),
    [['@some/deep@1.0.0', 'inner@1.0.0'], [], ['inner@1.0.0']],
  );
});

test('npm: a lockfile whose digest of what came along is another stops a frozen install', options, async (t) => {
  const { manifest, whole, target, install } = await installed(t);
  const lockfile = JSON.parse(whole.lockfile);
  lockfile.entities[0].artifacts[0].trees['inner@1.0.0'] = `sha256:${'0'.repeat(64)}`;
  await writeFile(join(target, LOCKFILE_NAME), JSON.stringify(lockfile));
  const report = await install(manifest, { frozen: true });
  assert.equal(report.ok, false);
  assert.match(String(stepNamed(report, 'npm.install').extra?.error), /^The files of inner@1\.0\.0 are others than/);
});

test(
  'npm: what was changed stays where it is when the registry does not have the package any more',
  options,
  async (t) => {
    const registry = await startNpmRegistry(t);
    registry.publish({ name: 'inner', version: '1.0.0' });
    registry.publish({ name: 'thing', version: '1.0.0', dependencies: { inner: '1.0.0' } });
    const place = await stage(t, { env: registry.env });
    const spec = { registry: 'npm', package: 'thing', version: '1.0.0' };
    const { dependencies = [], trees = {} } = await place.install(npmInstaller, spec);
    const knownTrees = new Map(dependencies.map((each) => [treeKey(each), trees[each.resolved] ?? '']));
    await appendFile(join(place.targetDir, 'node_modules/inner/index.js'), '// mine');
    const before = await treeDigest(place.targetDir, { skip: ['node_modules/.package-lock.json'] });
    await rm(join(String(registry.env.HOME), '.npm'), { recursive: true });
    registry.host.put('/inner/-/inner-1.0.0.tgz', 'no tarball');
    assert.match(await place.failure(npmInstaller, spec, { knownTrees }), /not what it announced/);
    assert.equal(await treeDigest(place.targetDir, { skip: ['node_modules/.package-lock.json'] }), before);
  },
);

/** As a lockfile of before digests of what came along were noted. */
async function forgetTrees(file: string): Promise<void> {
  const lockfile = JSON.parse(await readFile(file, 'utf8'));
  for (const artifact of lockfile.entities[0].artifacts) delete artifact.trees;
  await writeFile(file, JSON.stringify(lockfile, null, 2));
}

test('npm: what is put inside of a package, in the place of what that needs, is told and goes', options, async (t) => {
  const { manifest, ...first } = await installed(t);
  const files = await first.files();
  for (const path of ['@some/deep/package.json', 'inner.js']) {
    const shadow = join(first.target, 'node_modules/thing/node_modules', path);
    await mkdir(dirname(shadow), { recursive: true });
    await writeFile(shadow, '{}');
    const [stray] = path.split('/package.json');
    assert.deepEqual(await told(first.target), [
      `different: node_modules/thing/node_modules/${stray} is there, and is not in package-lock.json`,
    ]);
    assert.ok((await first.install(manifest, { frozen: true })).ok);
    assert.deepEqual(await first.files(), files);
    assert.deepEqual(await told(first.target), ['same']);
  }
});
