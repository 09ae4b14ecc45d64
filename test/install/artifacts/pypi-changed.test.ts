// Python packages that somebody changed where they are installed: put right by the next install, whichever program does it.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { appendFile, glob, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pypiInstaller } from '../../../src/install/artifacts/pypi.ts';
import { treeDigest } from '../../../src/lib/file-digest.ts';
import { unlessHere } from '../../support/programs.ts';

import { startPackageIndex } from './package-index.ts';
import { stage } from './stage.ts';

const FOLDERS = (process.env.PATH ?? '').split(delimiter);
const PATHS = {
  pip: FOLDERS.filter((folder) => !existsSync(join(folder, 'uv'))).join(delimiter),
  uv: process.env.PATH,
};

async function installed(t: TestContext, tool: keyof typeof PATHS) {
  const index = await startPackageIndex(t);
  const inner = index.publish({ name: 'inner', version: '1.0' });
  const thing = index.publish({ name: 'thing', version: '1.0', requires: ['inner'] });
  const home = await mkdtemp(join(tmpdir(), 'hub-python-home-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const place = await stage(t, { env: { ...process.env, PATH: PATHS[tool], HOME: home } });
  const locked = {
    resolved: 'thing==1.0',
    integrity: `sha256:${thing.sha256}`,
    dependencies: [{ resolved: 'inner==1.0', integrity: `sha256:${inner.sha256}` }],
  };
  const install = (more: object = {}) => place.install(pypiInstaller, { package: 'thing', index_url: index.url }, more);
  await install();
  const file = async (path: string) => {
    for await (const found of glob(`.venv/lib/python*/site-packages/${path}`, { cwd: place.targetDir }))
      return join(place.targetDir, found);
    return assert.fail(`${path} is not there`);
  };
  return { place, install, file, locked };
}

for (const tool of ['pip', 'uv'] as const) {
  const skip = unlessHere(tool === 'uv' ? 'uv' : 'python3');

  test(`pypi by ${tool}: changed files are put right, those of what came along too, frozen or not`, {
    skip,
  }, async (t) => {
    const { place, install, file, locked } = await installed(t, tool);
    const before = await treeDigest(place.targetDir);
    const changed = await file('inner.py');
    assert.equal((await stat(changed)).nlink, 1, 'no other target has the same file');
    for (const more of [{}, { locked }]) {
      await appendFile(changed, '# evil\n');
      await install(more);
      assert.equal(await treeDigest(place.targetDir), before, JSON.stringify(more));
    }
    await rm(changed);
    assert.deepEqual((await install()).extra?.repaired, ['inner==1.0']);
    assert.equal(await treeDigest(place.targetDir), before);
    // As an install leaves it that was ended.
    await rm(await file('inner-1.0.dist-info/RECORD'));
    assert.equal((await install()).extra?.repaired, undefined);
    assert.equal(await treeDigest(place.targetDir), before);
  });

  test(`pypi by ${tool}: no list of files and no link leads an installer out of the environment`, {
    skip,
  }, async (t) => {
    const { place, install, file } = await installed(t, tool);
    const theirs = join(place.targetDir, 'theirs/file.txt');
    await mkdir(dirname(theirs));
    await writeFile(theirs, 'theirs');
    await appendFile(await file('thing.py'), '# changed\n');
    const record = await file('thing-1.0.dist-info/RECORD');
    const list = await readFile(record, 'utf8');
    for (const line of [
      '../../../../theirs/file.txt,,',
      '"../../../../theirs/file.txt",sha512=aa,3',
      '../../../../theirs/file.txt,sha256=aa=,',
      '../../../../theirs/file.txt',
      'thing\0.py,,',
    ]) {
      await writeFile(record, `${list}${line}\n`);
      await assert.rejects(install(), /thing-1\.0\.dist-info\/RECORD in \.venv names a file outside of it/, line);
    }
    await writeFile(record, `${list}../../../bin/away/file.txt,,\n`);
    await symlink(dirname(theirs), join(place.targetDir, '.venv/bin/away'));
    await assert.rejects(install(), /'\.venv\/bin\/away' is a link, which an installer would follow/);
    assert.ok(existsSync(theirs));
  });
}
