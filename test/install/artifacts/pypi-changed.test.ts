// Python packages that somebody changed where they are installed: put right by the next install, whichever program does it.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { appendFile, glob, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
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
    await install();
    assert.equal(await treeDigest(place.targetDir), before);
  });

  test(`pypi by ${tool}: a list of files that leads out of the environment removes nothing`, { skip }, async (t) => {
    const { place, install, file } = await installed(t, tool);
    const theirs = join(place.targetDir, 'theirs.txt');
    await writeFile(theirs, 'theirs');
    await appendFile(await file('thing-1.0.dist-info/RECORD'), '../../../../theirs.txt,,\n');
    await appendFile(await file('thing.py'), '# changed\n');
    await assert.rejects(install(), /thing-1\.0\.dist-info\/RECORD in \.venv names a file outside of it/);
    assert.ok(existsSync(theirs));
  });
}
