// Environments that were made with a Python which may be anybody's: it is not started, and nobody loses what is in there.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pypiInstaller } from '../../../src/install/artifacts/pypi.ts';
import { WINDOWS } from '../../../src/install/artifacts/pypi-python.ts';
import { isOfMachine } from '../../../src/install/artifacts/pypi-trusted.ts';
import { treeDigest } from '../../../src/lib/file-digest.ts';
import { unlessHere } from '../../support/programs.ts';
import { aFolder } from '../installing.ts';
import { startPackageIndex } from './package-index.ts';
import { stage } from './stage.ts';

const skip = WINDOWS || unlessHere('python3');
const isRoot = process.geteuid?.() === 0;

/** An environment of which the Python leads to a script, and an index with `thing`. */
async function scene(t: TestContext) {
  const index = await startPackageIndex(t);
  index.publish({ name: 'thing', version: '1.0' });
  const place = await stage(t, { env: { ...process.env, HOME: await aFolder(t) } });
  const venv = join(place.targetDir, '.venv');
  execFileSync('python3', ['-I', '-m', 'venv', '--without-pip', venv]);
  const [started, program] = [join(await aFolder(t), 'started'), join(await aFolder(t), 'python3.12')];
  await writeFile(program, `#!/bin/sh\ntouch '${started}'\nexec ${realpathSync('/usr/bin/env')} python3 "$@"\n`);
  await chmod(program, 0o755);
  await rm(join(venv, 'bin/python'));
  await symlink(program, join(venv, 'bin/python'));
  const [version = ''] = await readdir(join(venv, 'lib'));
  const packages = join(venv, 'lib', version, 'site-packages');
  return { place, venv, packages, program, started, spec: { package: 'thing', index_url: index.url } };
}

const THINGS: Record<string, (place: { venv: string; packages: string }) => string> = {
  'a package': ({ packages }) => join(packages, 'mine-1.0.dist-info'),
  'a module': ({ packages }) => join(packages, 'mine.py'),
  'a file': ({ venv }) => join(venv, 'notes.txt'),
  'a program': ({ venv }) => join(venv, 'bin/mine'),
};

for (const [what, pathOf] of Object.entries(THINGS)) {
  test(`pypi: an environment with ${what} in it stays when its Python is none of the machine's`, {
    skip,
  }, async (t) => {
    const { place, started, spec, ...folders } = await scene(t);
    await mkdir(pathOf(folders));
    if (what === 'a module') await chmod(folders.program, 0o775);
    if (what === 'a file' && isRoot) await chown(folders.program, 65_534, 65_534);
    const before = await treeDigest(place.targetDir);
    assert.match(
      await place.failure(pypiInstaller, spec),
      /\.venv was made with a Python .*remove \.venv, and install/,
    );
    assert.equal(await treeDigest(place.targetDir), before);
    assert.ok(!existsSync(started));
  });
}

test("pypi: an empty environment whose Python is none of the machine's is made anew", { skip }, async (t) => {
  const { place, venv, program, started, spec } = await scene(t);
  await place.install(pypiInstaller, spec);
  assert.ok(!existsSync(started));
  assert.notEqual(realpathSync(join(venv, 'bin/python')), program);
  await place.assertContained();
});

test('pypi: an environment whose Python is gone is made anew where installs filled it, and else stays', {
  skip,
}, async (t) => {
  const { place, packages, program, spec } = await scene(t);
  const mine = join(packages, 'mine.py');
  await writeFile(mine, '');
  await rm(program);
  assert.match(await place.failure(pypiInstaller, spec), /is no environment that can be filled .* move it away/);
  assert.ok(existsSync(mine));
  const knownPlaces = { ours: [], ofOthers: [{ path: '.venv', id: 'tool:other@1.0.0' }] };
  assert.equal((await place.install(pypiInstaller, spec, { knownPlaces })).resolved, 'thing==1.0');
  assert.ok(!existsSync(mine));
});

test('pypi: what a person has in a folder of that name stays, whatever it is', { skip }, async (t) => {
  const { place, venv, spec } = await scene(t);
  await rm(venv, { recursive: true });
  const folders: (() => unknown)[] = [
    () => mkdir(venv),
    () => execFileSync('python3', ['-I', '-m', 'venv', '--copies', '--without-pip', venv]),
  ];
  for (const make of folders) {
    await make();
    await writeFile(join(venv, 'notes.txt'), 'mine');
    assert.match(
      await place.failure(pypiInstaller, spec),
      /^\.venv in the target is no environment that can be filled/,
    );
    assert.equal(await place.read('.venv/notes.txt'), 'mine');
    await rm(venv, { recursive: true });
  }
});

test('pypi: a program that an install has put into another target is not taken for a Python', { skip }, async (t) => {
  const index = await startPackageIndex(t);
  const ran = join(await aFolder(t), 'ran');
  const names = ['python3.99', 'python-x'];
  const files = names.map((name) => [`evil-1.0.data/data/programs/${name}`, `#!/bin/sh\ntouch '${ran}'\n`]);
  index.publish({ name: 'evil', version: '1.0', files: Object.fromEntries(files) });
  const other = await stage(t, { env: { ...process.env, HOME: await aFolder(t) } });
  await other.install(pypiInstaller, { package: 'evil', index_url: index.url });
  for (const name of names) {
    const { place, venv, spec } = await scene(t);
    await rm(join(venv, 'bin/python'));
    const script = join(other.targetDir, '.venv/programs', name);
    await chmod(script, 0o755);
    await symlink(script, join(venv, 'bin/python'));
    await place.install(pypiInstaller, spec);
    assert.ok(!existsSync(ran), name);
  }
});

test("pypi: what is on the PATH, what that starts, and what uv has, are the machine's Pythons", { skip }, async (t) => {
  const [programs, pythons, home] = [await aFolder(t), await aFolder(t), await aFolder(t)];
  const machine = execFileSync('python3', ['-I', '-c', 'import os, sys; print(os.path.realpath(sys.executable))'])
    .toString()
    .trim();
  const script = async (path: string) => {
    await writeFile(path, `#!/bin/sh\nexec '${machine}' "$@"\n`, { mode: 0o755 });
    return realpathSync(path);
  };
  // As pyenv does it: what is on the PATH is only a script that starts another program.
  await script(join(programs, 'python3'));
  await symlink(await script(join(pythons, 'python3.98')), join(programs, 'python3.98'));
  const PATH = [programs, process.env.PATH].join(delimiter);
  const { context } = await stage(t, { env: { ...process.env, PATH, HOME: home } });
  assert.equal(await isOfMachine(machine, context), true);
  assert.equal(await isOfMachine(join(realpathSync(pythons), 'python3.98'), context), true, 'a link on the PATH');
  assert.equal(await isOfMachine(await script(join(pythons, 'python3.97')), context), false);
  if (unlessHere('uv')) return;
  const ofUv = join(home, '.local/share/uv/python/cpython-3.96/bin');
  await mkdir(ofUv, { recursive: true });
  assert.equal(await isOfMachine(await script(join(ofUv, 'python3.96')), context), true, 'of uv');
});
