// Packages that come into an environment that is there: what stays, what goes, and what a failure leaves.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, type PathLike } from 'node:fs';
import fs, { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename, delimiter, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pypiInstaller } from '../../../src/install/artifacts/pypi.ts';
import { installedVersions } from '../../../src/install/artifacts/pypi-environment.ts';
import { treeDigest } from '../../../src/lib/file-digest.ts';
import { besideName } from '../../../src/lib/place-tree.ts';
import { unlessHere } from '../../support/programs.ts';
import { aFolder } from '../installing.ts';
import { startPackageIndex } from './package-index.ts';
import { stage } from './stage.ts';

const FOLDERS = (process.env.PATH ?? '').split(delimiter);
const PATHS = {
  pip: FOLDERS.filter((folder) => !existsSync(join(folder, 'uv'))).join(delimiter),
  uv: process.env.PATH,
};
const skip = unlessHere('python3');

/** `thing` 1.0 with files that 2.0 does not have, and `other`, which shares a folder with both. */
async function scene(t: TestContext, tool: keyof typeof PATHS = 'uv') {
  const index = await startPackageIndex(t);
  const script = { 'entry_points.txt': '[console_scripts]\nsay = thing:main\n' };
  const thing = (version: string, files: Record<string, string>) =>
    index.publish({
      name: 'thing',
      version,
      module: `import sys\ndef main(): print("${version}", sys.prefix)\n`,
      files: { ...files, [`thing-${version}.dist-info/entry_points.txt`]: script['entry_points.txt'] },
    });
  thing('1.0', { 'space/thing.py': '1', 'gone/deep/old.py': '1', 'turned/x.py': '1', 'space/data': '1' });
  thing('2.0', { 'space/thing.py': '2', turned: 'a file now', 'space/data': '2', 'space/more/new.py': '2' });
  index.publish({ name: 'other', version: '1.0', files: { 'space/other.py': '1' } });
  const place = await stage(t, { env: { ...process.env, PATH: PATHS[tool], HOME: await aFolder(t) } });
  const install = (spec: object) => place.install(pypiInstaller, { index_url: index.url, ...spec });
  await install({ package: 'other' });
  await install({ package: 'thing', version: '1.0' });
  const venv = join(place.targetDir, '.venv');
  const [version = ''] = await readdir(join(venv, 'lib'));
  const packages = join(venv, 'lib', version, 'site-packages');
  return { place, install, venv, packages };
}

for (const tool of ['pip', 'uv'] as const) {
  test(`pypi by ${tool}: an upgrade takes along what the old version had, and nothing of others`, {
    skip: skip || (tool === 'uv' && unlessHere('uv')),
  }, async (t) => {
    const { place, install, venv, packages } = await scene(t, tool);
    await mkdir(join(packages, 'gone/deep/__pycache__'));
    await writeFile(join(packages, 'gone/deep/__pycache__/old.cpython-399.pyc'), 'x');
    await mkdir(join(packages, 'space/__pycache__'));
    await writeFile(join(packages, 'space/__pycache__/other.cpython-399.pyc'), 'x');
    await writeFile(join(packages, 'space/__pycache__/thing.cpython-399.opt-1.pyc'), 'x');
    const first = await treeDigest(place.targetDir);
    const say = () => execFileSync(join(venv, 'bin/say'), { encoding: 'utf8' }).trim();
    assert.equal(say(), `1.0 ${venv}`);
    await install({ package: 'thing', version: '2.0' });
    assert.equal(say(), `2.0 ${venv}`);
    assert.match(await place.read('.venv/bin/say'), new RegExp(`^#!${venv}/bin/python`));
    assert.ok(!existsSync(join(packages, 'gone')));
    assert.equal(await readFile(join(packages, 'turned'), 'utf8'), 'a file now');
    assert.deepEqual((await readdir(join(packages, 'space'))).sort(), [
      '__pycache__',
      'data',
      'more',
      'other.py',
      'thing.py',
    ]);
    assert.deepEqual(await readdir(join(packages, 'space/__pycache__')), ['other.cpython-399.pyc']);
    const described = (await readdir(packages)).filter((name) => /^(thing|other)-/.test(name));
    assert.deepEqual(described.sort(), ['other-1.0.dist-info', 'thing-2.0.dist-info']);
    assert.notEqual(await treeDigest(place.targetDir), first);
    await place.assertContained();
  });

  test(`pypi by ${tool}: a new environment says where it is, whatever signs its path has`, {
    skip: skip || (tool === 'uv' && unlessHere('uv')),
  }, async (t) => {
    const index = await startPackageIndex(t);
    index.publish({ name: 'thing', version: '1.0' });
    const place = await stage(t, { env: { ...process.env, PATH: PATHS[tool], HOME: await aFolder(t) } });
    const targetDir = join(await aFolder(t), "it's here");
    const scratchDir = join(targetDir, '.hub');
    await mkdir(scratchDir, { recursive: true });
    const wanted = pypiInstaller.spec.parse({ package: 'thing', index_url: index.url });
    await pypiInstaller.install(wanted, { ...place.context, targetDir, scratchDir });
    const said = execFileSync('sh', [
      '-c',
      '. "$0" && echo "$VIRTUAL_ENV" && command -v python',
      join(targetDir, '.venv/bin/activate'),
    ]);
    assert.deepEqual(
      said.toString().trim().split('\n'),
      ['.venv', '.venv/bin/python'].map((path) => join(targetDir, path)),
    );
    for (const file of await readdir(join(targetDir, '.venv/bin'), { withFileTypes: true }))
      if (file.isFile())
        assert.doesNotMatch(await readFile(join(file.parentPath, file.name), 'utf8'), /hub-installs-/, file.name);
    assert.doesNotMatch(await readFile(join(targetDir, '.venv/pyvenv.cfg'), 'utf8'), /hub-installs-/);
    assert.deepEqual((await readdir(targetDir)).sort(), ['.hub', '.venv']);
  });
}

/** Moves fail with what is answered for them. */
function movesFail(t: TestContext, codeFor: (from: string, to: string) => string | undefined): void {
  const rename = fs.rename.bind(fs);
  t.mock.method(fs, 'rename', async (from: PathLike, to: PathLike) => {
    const code = codeFor(String(from), String(to));
    if (code) throw Object.assign(new Error(`${code}: not now`), { code, syscall: 'rename' });
    return rename(from, to);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

test('pypi: temporary files and .hub may be on other filesystems than the environment', { skip }, async (t) => {
  const calm = await scene(t);
  await calm.install({ package: 'thing', version: '2.0' });
  const files = (await calm.place.files()).sort();
  for (const isScratchElsewhere of [false, true]) {
    await t.test(`.hub elsewhere: ${isScratchElsewhere}`, async (inner) => {
      let moves = 0;
      const isTemporary = (path: string) => path.includes('hub-installs-');
      const isScratch = (path: string) => isScratchElsewhere && dirname(path).endsWith('.hub-scratch');
      movesFail(inner, (from, to) => {
        if (isTemporary(from) === isTemporary(to) && isScratch(from) === isScratch(to)) return undefined;
        moves += 1;
        return 'EXDEV';
      });
      const { place, install } = await scene(inner);
      await install({ package: 'thing', version: '2.0' });
      assert.deepEqual((await place.files()).sort(), files);
      assert.ok(moves > 1);
      await place.assertContained();
    });
  }
});

test('pypi: while a new environment is copied, the old one is in its place, and nothing is beside it', {
  skip,
}, async (t) => {
  const index = await startPackageIndex(t);
  index.publish({ name: 'thing', version: '1.0' });
  const place = await stage(t, { env: { ...process.env, HOME: await aFolder(t) } });
  await mkdir(join(place.targetDir, '.venv'));
  await writeFile(join(place.targetDir, '.venv/pyvenv.cfg'), 'home = /nowhere\n');
  const isTemporary = (path: string) => path.includes('hub-installs-');
  movesFail(t, (from, to) => (isTemporary(from) === isTemporary(to) ? undefined : 'EXDEV'));
  const seen = new Set<string>();
  const copyFile = fs.copyFile.bind(fs);
  t.mock.method(fs, 'copyFile', async (...args: Parameters<typeof copyFile>) => {
    if (!isTemporary(String(args[1])))
      seen.add(`${(await readdir(place.targetDir)).sort()}: ${await place.read('.venv/pyvenv.cfg').catch(String)}`);
    return copyFile(...args);
  });
  syncBuiltinESMExports();
  await place.install(pypiInstaller, { package: 'thing', index_url: index.url });
  assert.deepEqual([...seen], ['.hub-scratch,.venv: home = /nowhere\n']);
  await place.assertContained();
});

test('pypi: what fails halfway leaves the environment as it was, and the next install ends it', { skip }, async (t) => {
  const { place, install, packages } = await scene(t);
  const before = await treeDigest(place.targetDir);
  for (const last of ['RECORD', 'new.py', 'data']) {
    await t.test(last, async (inner) => {
      movesFail(inner, (from, to) => (basename(to) === last && !/^\d+$/.test(basename(from)) ? 'EIO' : undefined));
      await assert.rejects(install({ package: 'thing', version: '2.0' }), { code: 'EIO' });
    });
    assert.equal(await treeDigest(place.targetDir), before, last);
  }
  await mkdir(join(packages, 'space/more/new.py'), { recursive: true });
  const withFolder = await treeDigest(place.targetDir);
  await assert.rejects(
    install({ package: 'thing', version: '2.0' }),
    /space\/more\/new\.py' cannot be written: it is a folder/,
  );
  assert.equal(await treeDigest(place.targetDir), withFolder);
  await rm(join(packages, 'space/more'), { recursive: true });
  await install({ package: 'thing', version: '2.0' });
  assert.equal((await installedVersions(place.targetDir)).get('thing'), '2.0');
});

test('pypi: a merge that was ended is made good by the next install', { skip }, async (t) => {
  const { place, install, venv, packages } = await scene(t);
  await install({ package: 'thing', version: '2.0' });
  const after = await treeDigest(place.targetDir);
  const left = join(venv, besideName());
  await mkdir(left);
  await writeFile(join(left, 'new'), 'x');
  await rm(join(packages, 'thing-2.0.dist-info/RECORD'));
  await rm(join(packages, 'space/more/new.py'));
  await install({ package: 'thing', version: '2.0' });
  assert.equal(await treeDigest(place.targetDir), after);
});

test('pypi: of two descriptions of one package, and of files that are listed twice, one is left', {
  skip,
}, async (t) => {
  const { install, packages } = await scene(t);
  const record = await readFile(join(packages, 'thing-1.0.dist-info/RECORD'), 'utf8');
  await install({ package: 'thing', version: '2.0' });
  const old = join(packages, 'thing-1.0.dist-info');
  await mkdir(old);
  await writeFile(join(old, 'METADATA'), 'Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n');
  await writeFile(join(old, 'RECORD'), `${record}${record}`);
  await install({ package: 'thing', version: '2.0' });
  const described = (await readdir(packages)).filter((name) => name.startsWith('thing-'));
  assert.deepEqual(described, ['thing-2.0.dist-info']);
  assert.ok(existsSync(join(packages, 'thing.py')));
});

test('pypi: what is in place is not installed again', { skip }, async (t) => {
  const { place, install } = await scene(t);
  const started: string[] = [];
  const run: typeof place.context.run = (request) => {
    started.push(request.args.join(' '));
    return place.context.run(request);
  };
  const locked = await install({ package: 'thing', version: '1.0' });
  await place.install(pypiInstaller, { package: 'thing', version: '1.0' }, { locked, run });
  assert.ok(!started.some((args) => /pip install|requirements/.test(args)), started.join('\n'));
});
