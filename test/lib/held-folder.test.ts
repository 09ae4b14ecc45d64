import assert from 'node:assert/strict';
import fs, { lstat, mkdir, readdir, readFile, rename, rmdir, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { holdFolder, makeFoldersBelow, removeBelow } from '../../src/lib/held-folder.ts';
import { aFolder } from '../install/installing.ts';
import { whileSwapping } from '../install/swapping.ts';

test('held folder: what is made in it stays in it, whatever takes the place of its path', async (t) => {
  const [root, outside] = [await aFolder(t), await aFolder(t)];
  const held = await makeFoldersBelow(root, ['a', 'b']);
  assert.ok(held);
  await rename(join(root, 'a'), join(root, 'moved'));
  await symlink(outside, join(root, 'a'));
  await mkdir(join(outside, 'b'));
  await writeFile(join(held.place, 'file'), 'inside');
  await held.close();
  assert.equal(await readFile(join(root, 'moved/b/file'), 'utf8'), 'inside');
  assert.deepEqual(await readdir(join(outside, 'b')), []);
});

test('held folder: folders are made below one another, and those that are there stay as they are', async (t) => {
  const root = await aFolder(t);
  for (const _time of [1, 2]) {
    const held = await makeFoldersBelow(root, ['a', 'b', 'c']);
    await writeFile(join(held?.place ?? '', 'file'), 'x');
    await held?.close();
  }
  assert.deepEqual(await readdir(join(root, 'a/b/c')), ['file']);
  const same = await makeFoldersBelow(root, []);
  assert.deepEqual(await readdir(same?.place ?? ''), ['a']);
  await same?.close();
});

test('held folder: a link on the way, or in the way, is not followed', async (t) => {
  const [root, outside] = [await aFolder(t), await aFolder(t)];
  await symlink(outside, join(root, 'link'));
  await symlink(join(outside, 'nowhere'), join(root, 'dangling'));
  await mkdir(join(root, 'a'));
  await symlink(outside, join(root, 'a/link'));
  for (const names of [['link'], ['link', 'x'], ['a', 'link', 'x'], ['dangling']])
    assert.equal(await makeFoldersBelow(root, names).catch(linkRefused), undefined, names.join('/'));
  assert.equal(await holdFolder(join(root, 'link')).catch(linkRefused), undefined);
  assert.deepEqual(await readdir(outside), []);
});

/** Systems say of a link that was not to be followed that it is none of the folders, or a loop. */
function linkRefused(error: NodeJS.ErrnoException): undefined {
  assert.match(error.code ?? '', /ELOOP|ENOTDIR|EMLINK/);
}

test('held folder: a path through a link is not taken for the folder that it leads to', async (t) => {
  const [root, outside] = [await aFolder(t), await aFolder(t)];
  await mkdir(join(outside, 'inner'));
  await symlink(outside, join(root, 'link'));
  assert.equal(await holdFolder(join(root, 'link', 'inner')), undefined);
});

test('held folder: a file in the way and a folder that is gone are errors of the system, and nothing stays open', async (t) => {
  const root = await aFolder(t);
  await writeFile(join(root, 'file'), 'x');
  const before = await openFiles();
  for (let turn = 0; turn < 20; turn += 1) {
    await assert.rejects(makeFoldersBelow(root, ['file', 'x']), { code: 'ENOTDIR' });
    await assert.rejects(holdFolder(join(root, 'gone')), { code: 'ENOENT' });
    const held = await makeFoldersBelow(root, ['a']);
    await held?.close();
    await rmdir(join(root, 'a'));
  }
  assert.ok((await openFiles()) - before < 10, 'handles are closed');
  assert.ok((await lstat(join(root, 'file'))).isFile());
});

test('held folder: what is removed is removed there, links unfollowed, names that are no text included', async (t) => {
  const [root, outside] = [await aFolder(t), await aFolder(t)];
  await writeFile(join(outside, 'precious'), 'x');
  const held = await makeFoldersBelow(root, ['a']);
  assert.ok(held);
  await mkdir(join(root, 'a/tree/deep/deeper'), { recursive: true });
  await writeFile(join(root, 'a/tree/deep/file'), 'x');
  await writeFile(Buffer.concat([Buffer.from(join(root, 'a/tree/')), Buffer.from([0xff, 0xfe])]), 'x');
  await symlink(outside, join(root, 'a/tree/deep/link'));
  await symlink(outside, join(root, 'a/link'));
  await rename(join(root, 'a'), join(root, 'moved'));
  await mkdir(join(outside, 'tree'));
  await symlink(outside, join(root, 'a'));
  for (const name of ['tree', 'link', 'not-there']) await removeBelow(held, name);
  await held.close();
  assert.deepEqual(await readdir(join(root, 'moved')), []);
  assert.deepEqual((await readdir(outside)).toSorted(), ['precious', 'tree']);
});

test('held folder: a link that takes the place of a folder while that is removed is not followed', async (t) => {
  const [root, outside] = [await aFolder(t), await aFolder(t)];
  await writeFile(join(outside, 'precious'), 'x');
  const held = await holdFolder(root);
  assert.ok(held);
  await whileSwapping(t, { folder: join(root, 'tree'), outside }, async () => {
    for (const end = Date.now() + 2_000; Date.now() < end; ) {
      await mkdir(join(root, 'tree')).catch(() => {});
      await removeBelow(held, 'tree').catch(() => {});
    }
  });
  assert.deepEqual(await readdir(outside), ['precious']);
  await held.close();
});

test('held folder: it is held until the last removal in it has ended, also when another has failed', async (t) => {
  const root = await aFolder(t);
  await mkdir(join(root, 'tree'));
  for (const name of ['stuck', 'slow']) await writeFile(join(root, 'tree', name), 'x');
  const { unlink } = fs;
  const unlinkOrFail: typeof unlink = async (path) => {
    if (String(path).endsWith('stuck')) throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
    await sleep(100);
    await unlink(path);
  };
  t.mock.method(fs, 'unlink', unlinkOrFail);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  await assert.rejects(removeBelow({ place: root }, 'tree'), { code: 'EACCES' });
  assert.deepEqual(await readdir(join(root, 'tree')), ['stuck']);
});

/** Zero where the system does not tell. */
async function openFiles(): Promise<number> {
  return (await readdir('/proc/self/fd').catch(() => [])).length;
}
