// Settings of pip and uv that lie in a target: they choose neither where packages come from nor where anything is written.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pypiInstaller } from '../../../src/install/artifacts/pypi.ts';
import { unlessHere } from '../../support/programs.ts';
import { aFolder } from '../installing.ts';
import { startPackageIndex } from './package-index.ts';
import { type Stage, stage } from './stage.ts';

const folders = (process.env.PATH ?? '').split(delimiter);
const withoutUv = folders.filter((folder) => !existsSync(join(folder, 'uv'))).join(delimiter);

/** The operator's own index has 1.0 of `thing`, another one a newer version. */
async function settings(t: TestContext, PATH: string | undefined): Promise<{ place: Stage; other: string }> {
  const [own, other] = [await startPackageIndex(t), await startPackageIndex(t)];
  own.publish({ name: 'thing', version: '1.0' });
  other.publish({ name: 'thing', version: '6.6.6' });
  const home = await aFolder(t);
  const files = {
    'pip/pip.conf': `[global]\nindex-url = ${own.url}\n`,
    'uv/uv.toml': `[[index]]\nurl = "${own.url}"\ndefault = true\n`,
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(home, '.config', dirname(name)), { recursive: true });
    await writeFile(join(home, '.config', name), text);
  }
  return {
    place: await stage(t, { allowPrivate: false, env: { ...process.env, PATH, HOME: home } }),
    other: other.url,
  };
}

test('pypi by pip: the settings of an environment are not read, those of the operator are', {
  skip: unlessHere('python3'),
}, async (t) => {
  const { place, other } = await settings(t, withoutUv);
  const venv = join(place.targetDir, '.venv');
  execFileSync('python3', ['-I', '-m', 'venv', '--without-pip', venv]);
  const log = join(dirname(place.targetDir), 'written-outside');
  await writeFile(join(venv, 'pip.conf'), `[global]\nindex-url = ${other}\nlog = ${log}\n`);
  const { resolved } = await place.install(pypiInstaller, { package: 'thing' });
  assert.equal(resolved, 'thing==1.0');
  await place.assertContained();
});

const SETTINGS: Record<string, (index: string, cache: string) => string> = {
  'uv.toml': (index, cache) => `cache-dir = "${cache}"\n[[index]]\nurl = "${index}"\ndefault = true\n`,
  'pyproject.toml': (index, cache) =>
    `[project]\nname = "x"\nversion = "1"\nrequires-python = ">=3.99"\n[tool.uv]\ncache-dir = "${cache}"\n[[tool.uv.index]]\nurl = "${index}"\ndefault = true\n`,
};

for (const [name, write] of Object.entries(SETTINGS)) {
  test(`pypi by uv: ${name} of a target is not read, the settings of the operator are`, {
    skip: unlessHere('uv'),
  }, async (t) => {
    const { place, other } = await settings(t, process.env.PATH);
    await writeFile(join(place.targetDir, name), write(other, join(dirname(place.targetDir), 'cache')));
    const { resolved } = await place.install(pypiInstaller, { package: 'thing' });
    assert.equal(resolved, 'thing==1.0');
    await place.assertContained();
  });
}

test('pypi by uv: a target does not choose the Python that is started', {
  skip: unlessHere('uv', 'python3'),
}, async (t) => {
  const { place } = await settings(t, process.env.PATH);
  const script = join(place.targetDir, 'python');
  const proof = join(dirname(place.targetDir), 'ran');
  await writeFile(script, `#!/bin/sh\ntouch ${proof}\nexec python3 "$@"\n`, { mode: 0o755 });
  await writeFile(join(place.targetDir, '.python-version'), `${script}\n`);
  const { resolved } = await place.install(pypiInstaller, { package: 'thing' });
  assert.equal(resolved, 'thing==1.0');
  await place.assertContained();
});

test('pypi by uv: where no program may be started beside what is made, the sentence says what to set', {
  skip: unlessHere('uv', 'python3'),
}, async (t) => {
  const { place } = await settings(t, process.env.PATH);
  // As on a filesystem that is mounted with noexec.
  const run: typeof place.context.run = async (request) => {
    await chmod(join(place.context.workDir, 'python'), 0o600).catch(() => {});
    return place.context.run(request);
  };
  const sentence = await place.failure(pypiInstaller, { package: 'thing' }, { run });
  assert.match(sentence, /^No program may be started in the folder for temporary files.* noexec.*set TMPDIR/);
});
