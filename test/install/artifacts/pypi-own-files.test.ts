// Packages and lists that lay claim to what is not theirs: the environment's own files, other packages, names that cannot be.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pypiInstaller } from '../../../src/install/artifacts/pypi.ts';
import { WINDOWS } from '../../../src/install/artifacts/pypi-python.ts';
import { treeDigest } from '../../../src/lib/file-digest.ts';
import { unlessHere } from '../../support/programs.ts';
import { aFolder } from '../installing.ts';
import { startPackageIndex } from './package-index.ts';
import { stage } from './stage.ts';

const FOLDERS = (process.env.PATH ?? '').split(delimiter);
const PATHS = {
  pip: FOLDERS.filter((folder) => !existsSync(join(folder, 'uv'))).join(delimiter),
  uv: process.env.PATH,
};
const skip = WINDOWS || unlessHere('python3');

async function scene(t: TestContext, tool: keyof typeof PATHS = 'uv') {
  const index = await startPackageIndex(t);
  const place = await stage(t, { env: { ...process.env, PATH: PATHS[tool], HOME: await aFolder(t) } });
  const venv = join(place.targetDir, '.venv');
  return {
    index,
    place,
    venv,
    install: (spec: object) => place.install(pypiInstaller, { index_url: index.url, ...spec }),
    async packages() {
      const [version = ''] = await readdir(join(venv, 'lib'));
      return join(venv, 'lib', version, 'site-packages');
    },
  };
}

for (const tool of ['pip', 'uv'] as const) {
  for (const isNew of [true, false]) {
    test(`pypi by ${tool}: no package brings or takes along the files of ${isNew ? 'a new' : 'an'} environment`, {
      skip: skip || (tool === 'uv' && unlessHere('uv')),
    }, async (t) => {
      const { index, place, venv, install } = await scene(t, tool);
      const data = (version: string) => `thing-${version}.data/data`;
      for (const version of ['1.0', '2.0'])
        index.publish({
          name: 'thing',
          version,
          files: {
            [`${data(version)}/pyvenv.cfg`]: 'home = /nowhere\n',
            // uv refuses such packages by itself.
            ...(tool === 'pip' && { [`${data(version)}/bin/python`]: '#!/bin/sh\n' }),
            [`${data(version)}/share/thing`]: version,
          },
        });
      index.publish({ name: 'other', version: '1.0' });
      if (!isNew) await install({ package: 'other' });
      for (const version of ['1.0', '1.0', '2.0']) {
        const { extra } = await install({ package: 'thing', version });
        assert.equal(extra?.repaired, undefined);
        assert.match(await place.read('.venv/pyvenv.cfg'), /^home = (?!\/nowhere)/m);
        assert.ok(await readlink(join(venv, 'bin/python')));
        assert.equal(await place.read('.venv/share/thing'), version);
        const code = `import sys, thing${isNew ? '' : ', other'}; print(sys.prefix)`;
        assert.equal(execFileSync(join(venv, 'bin/python'), ['-c', code], { encoding: 'utf8' }).trim(), venv);
      }
      await place.assertContained();
    });
  }
}

test('pypi: a package that describes another one takes none of its files along', { skip }, async (t) => {
  const { index, install, packages } = await scene(t);
  index.publish({ name: 'other', version: '1.0', files: { 'other_folder/a.py': '1' } });
  const another = { 'thing-1.0.data/purelib/other-9.dist-info/METADATA': 'Name: other\nVersion: 9\n' };
  index.publish({ name: 'thing', version: '1.0', files: another });
  await install({ package: 'other' });
  await install({ package: 'thing' });
  for (const path of ['other.py', 'other_folder/a.py', 'other-1.0.dist-info/RECORD', 'thing.py'])
    assert.ok(existsSync(join(await packages(), path)), path);
});

const LISTS: Record<string, () => string> = {
  '200,000 lines': () => Array.from({ length: 200_000 }, (_, at) => `thing/${at},,`).join('\n'),
  'a name that is too long': () => `${'x'.repeat(300)},,`,
  'a folder whose name is too long': () => `${'x'.repeat(300)}/y.py,sha256=abc,1`,
};

for (const [what, lines] of Object.entries(LISTS)) {
  test(`pypi: a list with ${what} does not keep a package from being replaced`, { skip }, async (t) => {
    const { index, install, packages } = await scene(t);
    for (const version of ['1.0', '2.0']) index.publish({ name: 'thing', version });
    await install({ package: 'thing', version: '1.0' });
    await appendFile(join(await packages(), 'thing-1.0.dist-info/RECORD'), `${lines()}\n`);
    await install({ package: 'thing', version: '2.0' });
    const described = (await readdir(await packages())).filter((name) => name.startsWith('thing-'));
    assert.deepEqual(described, ['thing-2.0.dist-info']);
  });
}

test('pypi: the settings of an environment are as they were when the install fails', { skip }, async (t) => {
  const { index, place, venv, install } = await scene(t);
  index.publish({ name: 'thing', version: '1.0' });
  await install({ package: 'thing' });
  const file = join(venv, 'pyvenv.cfg');
  await writeFile(file, (await readFile(file, 'utf8')).replace(/^version.*$/m, 'version = 3.1.5'));
  const before = await treeDigest(place.targetDir);
  await assert.rejects(install({ package: 'nothing' }), /no such package/);
  assert.equal(await treeDigest(place.targetDir), before);
  await install({ package: 'thing' });
  assert.doesNotMatch(await readFile(file, 'utf8'), /3\.1\.5/);
});
