// What was being replaced when somebody was killed comes back, and never in the place of anything.
import assert from 'node:assert/strict';
import fs, { lstat, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { putBackInside } from '../../src/lib/replace-inside.ts';
import { aFolder } from '../install/installing.ts';

/** As whoever is killed between the two moves leaves a folder, a file and a link; the link leads to nothing. */
async function left(t: TestContext) {
  const root = await aFolder(t);
  const attic = join(root, '.hub');
  await mkdir(join(attic, 'old-1'), { recursive: true });
  await writeFile(join(attic, 'old-1/inner'), 'old');
  await writeFile(join(attic, 'old-2'), 'old', { mode: 0o750 });
  await symlink('../x/cli.js', join(attic, 'old-3'));
  const places = { 'old-1': 'vendor/folder', 'old-2': 'vendor/file', 'old-3': 'node_modules/.bin/link' };
  for (const [name, path] of Object.entries(places)) await writeFile(join(attic, `${name}.path`), path);
  const at = (path: string) => join(root, path);
  return { at, putBack: () => putBackInside(root, { place: attic }, () => true) };
}

test('put back: folders, files and links', async (t) => {
  const { at, putBack } = await left(t);
  await putBack();
  assert.equal(await readFile(at('vendor/folder/inner'), 'utf8'), 'old');
  assert.equal(await readFile(at('vendor/file'), 'utf8'), 'old');
  assert.equal((await lstat(at('vendor/file'))).mode & 0o777, 0o750);
  assert.equal(await readlink(at('node_modules/.bin/link')), '../x/cli.js');
  await putBack();
});

test('put back: what is there stays, and keeps nothing else from coming back', async (t) => {
  const { at, putBack } = await left(t);
  for (const folder of ['vendor', 'node_modules/.bin']) await mkdir(at(folder), { recursive: true });
  for (const path of ['vendor/folder', 'vendor/file', 'node_modules/.bin/link']) await symlink('new', at(path));
  await putBack();
  for (const path of ['vendor/folder', 'vendor/file', 'node_modules/.bin/link'])
    assert.equal(await readlink(at(path)), 'new');
  for (const path of ['vendor/file', 'node_modules/.bin/link']) await rm(at(path));
  await putBack();
  assert.equal(await readlink(at('vendor/folder')), 'new');
  assert.equal(await readFile(at('vendor/file'), 'utf8'), 'old');
  assert.equal(await readlink(at('node_modules/.bin/link')), '../x/cli.js');
});

test('put back: not through links', async (t) => {
  const [{ at, putBack }, outside] = [await left(t), await aFolder(t)];
  await symlink(outside, at('vendor'));
  await assert.rejects(putBack(), /'vendor' goes through a link/);
  assert.deepEqual(await readdir(outside), []);
});

test('put back: also files on filesystems without second names', async (t) => {
  const { at, putBack } = await left(t);
  t.mock.method(fs, 'link', () => Promise.reject(Object.assign(new Error('EPERM'), { code: 'EPERM' })));
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  await putBack();
  assert.equal(await readFile(at('vendor/file'), 'utf8'), 'old');
});
