// npm follows links: it must never be given a place in a target, where somebody may put one while it is at work.
import assert from 'node:assert/strict';
import { appendFile, mkdir, readlink, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { InstallContext } from '../../../src/install/artifacts/artifact-installer.ts';
import { npmInstaller } from '../../../src/install/artifacts/npm.ts';
import { makeSkeleton } from '../../../src/install/artifacts/npm-skeleton.ts';
import { treeKey } from '../../../src/install/known-trees.ts';
import { treeDigest } from '../../../src/lib/file-digest.ts';
import { createRun } from '../../../src/lib/run.ts';
import type { RunRequest } from '../../../src/lib/world.ts';
import { unlessHere } from '../../support/programs.ts';
import { aFolder } from '../installing.ts';
import { whileSwapping } from '../swapping.ts';
import { type NpmRegistry, startNpmRegistry } from './npm-registry.ts';
import { type Stage, stage } from './stage.ts';

const options = { skip: unlessHere('npm') };

interface NpmStage extends Stage {
  registry: NpmRegistry;
}

async function npmStage(t: TestContext): Promise<NpmStage> {
  const registry = await startNpmRegistry(t);
  for (const version of ['1.0.0', '2.0.0']) {
    const files = Object.fromEntries(['index.js', 'lib/a.js', 'lib/b.js'].map((name) => [name, `// ${version}\n`]));
    registry.publish({ name: 'inner', version, bin: { inner: 'index.js' }, files });
    registry.publish({ name: '@some/deep', version, dependencies: { inner: version }, files });
    registry.publish({ name: 'thing', version, dependencies: { '@some/deep': version }, files });
  }
  return { ...(await stage(t, { env: registry.env })), registry };
}

const specOf = (version: string, name = 'thing') => ({ registry: 'npm', package: name, version });

/** Installs, upgrades and has something mended. */
async function inAllWays({ install, targetDir, files }: Stage, some?: Partial<InstallContext>): Promise<void> {
  await install(npmInstaller, specOf('1.0.0'), some);
  const { dependencies = [], trees = {} } = await install(npmInstaller, specOf('2.0.0'), some);
  const knownTrees = new Map(dependencies.map((each) => [treeKey(each), trees[each.resolved] ?? '']));
  const whole = await files();
  await appendFile(join(targetDir, 'node_modules/inner/index.js'), '// changed').catch(() => {});
  const { extra } = await install(npmInstaller, specOf('2.0.0'), { ...some, knownTrees });
  assert.deepEqual(extra?.repaired, ['inner@2.0.0']);
  assert.deepEqual(await files(), whole);
}

test(
  'npm: what is new, of another version or changed comes into the target; npm itself never does',
  options,
  async (t) => {
    const place = await npmStage(t);
    const asked: RunRequest[] = [];
    const run: InstallContext['run'] = (request) => {
      asked.push(request);
      // That no place in the target is among what it is given is seen to by the stage, here as everywhere.
      return place.context.run(request);
    };
    await inAllWays(place, { run });
    assert.ok(asked.filter(({ args }) => args.includes('--package-lock-only')).length === 3);
  },
);

test('npm: links that take the place of its folders while it is at work lead nowhere', options, async (t) => {
  for (const swapped of ['node_modules', 'node_modules/@some']) {
    const [place, outside] = [await npmStage(t), await aFolder(t)];
    // What npm would write over and remove.
    for (const name of ['@some/deep', 'inner', 'deep', 'lib']) {
      await mkdir(join(outside, name), { recursive: true });
      for (const file of ['package.json', 'index.js']) await writeFile(join(outside, name, file), '{}');
    }
    for (const file of ['package.json', '.package-lock.json']) await writeFile(join(outside, file), '{}');
    const before = await treeDigest(outside);
    await place.install(npmInstaller, specOf('1.0.0'));
    const folder = join(place.targetDir, swapped);
    let [done, refused] = [0, 0];
    await whileSwapping(t, { folder, outside, pauseMs: 6 }, async () => {
      // Some are refused, because a link is in the way just then; with all of them refused, nothing would be tried.
      for (let turn = 1; turn <= 3 || (done === 0 && turn <= 20); turn += 1)
        await place.install(npmInstaller, specOf(turn % 2 === 0 ? '1.0.0' : '2.0.0')).then(
          () => (done += 1),
          () => (refused += 1),
        );
    });
    assert.ok(done > 0, `${swapped}: all of ${refused} refused`);
    assert.equal(await treeDigest(outside), before, `${swapped}: ${done} installed, ${refused} refused`);
    await place.assertContained();
  }
});

test('npm: what cannot be brought in whole is not brought in at all', options, async (t) => {
  const place = await npmStage(t);
  await place.install(npmInstaller, specOf('1.0.0'));
  const before = await treeDigest(place.targetDir);
  // Of the two project files the second cannot be written any more: all packages are in place then.
  const run: InstallContext['run'] = async (request) => {
    const result = await place.context.run(request);
    if (request.args.includes('--no-package-lock-only')) {
      await rename(join(place.targetDir, 'package-lock.json'), join(place.targetDir, 'kept'));
      await mkdir(join(place.targetDir, 'package-lock.json'));
    }
    return result;
  };
  assert.match(await place.failure(npmInstaller, specOf('2.0.0'), { run }), /package-lock\.json .* it is no file/);
  await rm(join(place.targetDir, 'package-lock.json'), { recursive: true });
  await rename(join(place.targetDir, 'kept'), join(place.targetDir, 'package-lock.json'));
  assert.equal(await treeDigest(place.targetDir), before);
});

test('npm: what somebody writes into package.json meanwhile is not lost', options, async (t) => {
  const place = await npmStage(t);
  const mine = '{ "name": "mine", "private": true }\n';
  const run: InstallContext['run'] = async (request) => {
    const result = await place.context.run(request);
    await writeFile(join(place.targetDir, 'package.json'), mine);
    return result;
  };
  assert.match(await place.failure(npmInstaller, specOf('1.0.0'), { run }), /^package\.json .* was changed while npm/);
  assert.deepEqual(await place.files(), ['package.json']);
  assert.equal(await place.read('package.json'), mine);
});

test('npm: what an install left that was ended in replacing something goes with the next', options, async (t) => {
  const place = await npmStage(t);
  await place.install(npmInstaller, specOf('1.0.0'));
  const files = await place.files();
  for (const folder of ['node_modules', 'node_modules/@some']) {
    const left = join(place.targetDir, folder, '.hub-0b0f8a9e-3c1e-4a57-9b51-0d4d1f3c2a11');
    await mkdir(left);
    await writeFile(join(left, 'file'), 'x');
  }
  await place.install(npmInstaller, specOf('1.0.0'));
  assert.deepEqual(await place.files(), files);
});

test('npm: a project with workspaces and packages of its own gets one more package', options, async (t) => {
  const place = await npmStage(t);
  const { targetDir, registry } = place;
  const project = {
    name: 'mine',
    private: true,
    workspaces: ['packages/*'],
    dependencies: { local: 'file:./tools/local', inner: '~1.0.0' },
  };
  const described: [string, object][] = [
    ['.', project],
    ['packages/a', { name: 'a', version: '1.0.0', dependencies: { inner: '2.0.0' } }],
    ['packages/b', { name: 'b', version: '1.0.0', dependencies: { a: '1.0.0' } }],
    ['tools/local', { name: 'local', version: '1.0.0', dependencies: { inner: '1.0.0' } }],
  ];
  for (const [folder, description] of described) {
    await mkdir(join(targetDir, folder), { recursive: true });
    await writeFile(join(targetDir, folder, 'package.json'), JSON.stringify(description));
    await writeFile(join(targetDir, folder, 'own.js'), '// mine\n');
  }
  await place.install(npmInstaller, specOf('1.0.0'));
  const expected = {
    'node_modules/inner': '1.0.0',
    'packages/a/node_modules/inner': '2.0.0',
    'node_modules/a': '1.0.0',
  };
  for (const [path, version] of Object.entries(expected))
    assert.equal(JSON.parse(await place.read(`${path}/package.json`)).version, version);
  for (const path of ['node_modules/local', 'node_modules/b', 'packages/a'])
    assert.equal(await place.read(`${path}/own.js`), '// mine\n');
  assert.deepEqual(JSON.parse(await place.read('package.json')).workspaces, ['packages/*']);

  const whole = await treeDigest(targetDir);
  await place.install(npmInstaller, specOf('1.0.0'));
  assert.equal(await treeDigest(targetDir), whole, 'the second time changes nothing');
  // As npm itself sees it.
  const { stdout, exitCode } = await createRun(registry.env)({
    program: 'npm',
    args: ['ls', '--all', '--json', '--offline'],
    cwd: targetDir,
    timeoutMs: 60_000,
    signal: place.context.signal,
  });
  assert.equal(exitCode, 0, stdout);
  await place.assertContained();
});

test(
  'npm: of what is not needed any more no folder is left, unless somebody keeps something in it',
  options,
  async (t) => {
    const place = await npmStage(t);
    const { install, registry, targetDir } = place;
    registry.publish({ name: 'thing', version: '3.0.0' });
    await install(npmInstaller, specOf('3.0.0'));
    const whole = await treeDigest(targetDir);
    await install(npmInstaller, specOf('2.0.0'));
    await install(npmInstaller, specOf('3.0.0'));
    assert.equal(await treeDigest(targetDir), whole);
    await install(npmInstaller, specOf('2.0.0'));
    await writeFile(join(targetDir, 'node_modules/@some/.mine'), 'x');
    await install(npmInstaller, specOf('3.0.0'));
    assert.equal(await place.read('node_modules/@some/.mine'), 'x');
  },
);

test('npm: packages that a project takes from outside of the target are told', options, async (t) => {
  const place = await npmStage(t);
  for (const written of ['file:../../elsewhere', '../elsewhere', 'file:/elsewhere', '~/elsewhere']) {
    const text = JSON.stringify({ dependencies: { far: written } });
    await writeFile(join(place.targetDir, 'package.json'), text);
    const message = await place.failure(npmInstaller, specOf('1.0.0'));
    assert.match(message, /^package\.json takes 'far' from '.*elsewhere', which is not inside of the target/);
    assert.equal(await place.read('package.json'), text);
  }
});

test('npm: what a link in the place of a package leads to stays as it is', options, async (t) => {
  const [place, elsewhere] = [await npmStage(t), await aFolder(t)];
  const link = join(place.targetDir, 'node_modules/inner');
  await mkdir(join(place.targetDir, 'node_modules'));
  for (const [version, told] of [
    ['1.0.0', /needs something that is in no registry/],
    ['0.9.0', undefined],
  ] as const) {
    await writeFile(join(elsewhere, 'package.json'), JSON.stringify({ name: 'inner', version }));
    const before = await treeDigest(elsewhere);
    for (const text of [elsewhere, relative(join(place.targetDir, 'node_modules'), elsewhere)]) {
      await rm(link, { recursive: true, force: true });
      await symlink(text, link);
      if (told) assert.match(await place.failure(npmInstaller, specOf('1.0.0')), told);
      else await place.install(npmInstaller, specOf('1.0.0'));
      assert.equal(await treeDigest(elsewhere), before);
    }
  }
  assert.equal(await place.read('node_modules/inner/index.js'), '// 1.0.0\n');
});

test('npm: what is nested in a package that is replaced is whole afterwards', options, async (t) => {
  const { registry, ...place } = await npmStage(t);
  for (const version of ['1.0.0', '2.0.0'])
    registry.publish({
      name: 'outer',
      version,
      dependencies: { inner: '1.0.0' },
      files: { 'index.js': `// ${version}\n` },
    });
  await place.install(npmInstaller, specOf('2.0.0', 'inner'));
  await place.install(npmInstaller, specOf('1.0.0', 'outer'));
  await place.install(npmInstaller, specOf('2.0.0', 'outer'));
  assert.equal(await place.read('node_modules/outer/index.js'), '// 2.0.0\n');
  assert.equal(await place.read('node_modules/outer/node_modules/inner/lib/a.js'), '// 1.0.0\n');
  assert.deepEqual(
    (await place.files()).filter((path) => path.includes('.hub')),
    [],
  );
});

test('npm: an archive cannot pass for what the target has already', options, async (t) => {
  const { registry, ...place } = await npmStage(t);
  for (const version of ['1.0.0', '2.0.0'])
    registry.publish({ name: 'sly', version, files: { 'index.js': `// ${version}\n`, '.hub-stands-in': '' } });
  for (const version of ['1.0.0', '2.0.0']) {
    await place.install(npmInstaller, specOf(version, 'sly'));
    assert.equal(await place.read('node_modules/sly/index.js'), `// ${version}\n`);
  }
});

test(
  'npm: a lockfile that leads out of the target is told, and nothing there becomes a program',
  options,
  async (t) => {
    const [{ targetDir, ...place }, outside] = [await npmStage(t), await aFolder(t)];
    await writeFile(join(outside, 'private'), '#!x\r\n', { mode: 0o600 });
    const bin = { z: 'private' };
    const ups = ['', 1, 2, 3, 4, 5, 6].map(
      (depth) => `${'../'.repeat(Number(depth))}${outside.slice(depth === '' ? 0 : 1)}`,
    );
    for (const up of ups) {
      const packages = { '': { dependencies: { z: '*' } }, [up]: { version: '1.0.0', bin } };
      const locks = [
        { lockfileVersion: 3, packages: { ...packages, 'node_modules/z': { resolved: up, link: true } } },
        { lockfileVersion: 3, packages: { '': packages[''], 'node_modules/z': { resolved: up, link: true } } },
        {
          lockfileVersion: 1,
          dependencies: { a: { version: '1.0.0', dependencies: { z: { version: `file:${up}` } } } },
        },
      ];
      for (const lock of locks)
        for (const file of ['package-lock.json', 'npm-shrinkwrap.json']) {
          await writeFile(join(targetDir, 'package.json'), '{ "dependencies": { "z": "*" } }');
          await writeFile(join(targetDir, file), JSON.stringify({ name: 'a', requires: true, ...lock }));
          const message = await place.failure(npmInstaller, specOf('1.0.0'));
          assert.ok(message.startsWith(`${file} takes '`) && message.includes('not inside of the target'), message);
          await rm(join(targetDir, file));
        }
    }
    const { mode } = await stat(join(outside, 'private'));
    assert.equal(mode & 0o777, 0o600);
  },
);

test('npm: workspaces by patterns that would take for ever, or by links, are told', options, async (t) => {
  const { targetDir, ...place } = await npmStage(t);
  const hostile = [
    ...['{a,b}'.repeat(24), '{1..3000000}', '../**', 'a/../../**', '*a'.repeat(30), '@(a|b)+(c)', '[a-z]', '*a*b'],
    ...['a/'.repeat(60_000), '**/'.repeat(60_000), `a${'/b'.repeat(40)}`, `{${'a,'.repeat(30)}}`],
  ];
  for (const pattern of hostile) {
    await writeFile(join(targetDir, 'package.json'), JSON.stringify({ name: 'm', workspaces: [pattern] }));
    assert.match(
      await place.failure(npmInstaller, specOf('1.0.0')),
      /^The workspaces of package\.json have the pattern/,
    );
  }
  await mkdir(join(targetDir, 'real/a'), { recursive: true });
  await writeFile(join(targetDir, 'real/a/package.json'), '{ "name": "a", "version": "1.0.0" }');
  await symlink('real', join(targetDir, 'packages'));
  await writeFile(
    join(targetDir, 'package.json'),
    JSON.stringify({ name: 'm', workspaces: { packages: ['packages/*'] } }),
  );
  assert.match(await place.failure(npmInstaller, specOf('1.0.0')), /^The workspace 'packages' is a link/);
  await rm(join(targetDir, 'packages'));
  await symlink('package.json', join(targetDir, 'real/LICENSE'));
  const named = ['@scope/b', '.config/c', 'apps/d', 'libs/e'];
  for (const path of named) {
    await mkdir(join(targetDir, path), { recursive: true });
    await writeFile(join(targetDir, path, 'package.json'), JSON.stringify({ name: path.slice(-1), version: '1.0.0' }));
  }
  const workspaces = ['./real/**/**', '!real/b', 'real/*', '@scope/*', '.config/*', '{apps,libs}/*'];
  await writeFile(join(targetDir, 'package.json'), JSON.stringify({ name: 'm', workspaces }));
  await place.install(npmInstaller, specOf('1.0.0'));
  for (const path of ['real/a', ...named])
    assert.equal(await readlink(join(targetDir, 'node_modules', path.slice(-1))), `../${path}`);
  await rename(join(targetDir, 'apps/d/package.json'), join(targetDir, 'elsewhere.json'));
  await symlink('../../elsewhere.json', join(targetDir, 'apps/d/package.json'));
  assert.match(await place.failure(npmInstaller, specOf('2.0.0')), /^The workspace 'apps\/d\/package\.json' is a link/);
});

test('npm: a project without a name has that of its folder, and programs may have any', options, async (t) => {
  const { registry, targetDir, ...place } = await npmStage(t);
  registry.publish({ name: 'dotted', version: '1.0.0', bin: { '.dotted': 'index.js', plain: 'index.js' } });
  await writeFile(join(targetDir, 'package.json'), '{ "private": true }');
  await place.install(npmInstaller, specOf('1.0.0', 'dotted'));
  assert.equal(JSON.parse(await place.read('package-lock.json')).name, 'target');
  for (const name of ['.dotted', 'plain']) assert.ok(await place.read(`node_modules/.bin/${name}`));
  // As after an install that was ended when the links were there, and the package was not.
  await rm(join(targetDir, 'node_modules/dotted'), { recursive: true });
  await place.install(npmInstaller, specOf('1.0.0', 'dotted'));
  const { mode } = await stat(join(targetDir, 'node_modules/.bin/plain'));
  assert.equal(mode & 0o111, 0o111);
});

test('npm: links into the target lead to the copy', options, async (t) => {
  const { targetDir, context } = await npmStage(t);
  const dir = await aFolder(t);
  await mkdir(join(targetDir, 'packages/a'), { recursive: true });
  await mkdir(join(targetDir, 'node_modules'));
  await symlink('..', join(targetDir, 'node_modules/self'));
  await symlink(join(targetDir, 'packages/a'), join(targetDir, 'node_modules/a'));
  await writeFile(join(dir, 'package.json'), '{}');
  const { standIns } = await makeSkeleton(dir, context);
  assert.deepEqual(Object.fromEntries(standIns), { 'node_modules/self': '..', 'node_modules/a': '../packages/a' });
});
