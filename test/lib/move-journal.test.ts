// Files that are replaced one by one: nothing goes through links, and everything comes back.
import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { treeDigest } from '../../src/lib/file-digest.ts';
import { createMoveJournal } from '../../src/lib/move-journal.ts';
import { PathError } from '../../src/lib/path-inside.ts';
import { aFolder } from '../install/installing.ts';

async function scene(t: TestContext, files: Record<string, string>) {
  const around = await aFolder(t);
  const [root, from, aside] = ['root', 'from', 'aside'].map((name) => ({ place: join(around, name) })) as [
    { place: string },
    { place: string },
    { place: string },
  ];
  for (const { place } of [root, from, aside]) await mkdir(place);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(around, path)), { recursive: true });
    await writeFile(join(around, path), text);
  }
  return { root, from, journal: createMoveJournal(root, aside, 'root'), around };
}

test('moves: what is taken, put and pruned comes back', async (t) => {
  const { root, from, journal } = await scene(t, {
    'root/a/old': '1',
    'root/a/both': '1',
    'root/b/c/only': '1',
    'from/a/both': '2',
    'from/b': '2',
    'from/d/e/new': '2',
  });
  const before = await treeDigest(root.place);
  await journal.take(['a'], ['old', 'nothing']);
  await journal.take(['b', 'c'], ['only']);
  await journal.take(['not', 'there'], ['x']);
  await journal.prune(['b', 'c'], 0);
  await journal.put(from, ['a'], ['both']);
  await journal.put(from, [], ['b']);
  await journal.put(from, ['d', 'e'], ['new']);
  assert.deepEqual((await readdir(root.place, { recursive: true })).sort(), [
    'a',
    'a/both',
    'b',
    'd',
    'd/e',
    'd/e/new',
  ]);
  assert.equal(await readFile(join(root.place, 'a/both'), 'utf8'), '2');
  await journal.undo();
  assert.equal(await treeDigest(root.place), before);
});

test('moves: folders that were pruned come back with their modes', async (t) => {
  const { root, journal } = await scene(t, { 'root/a/b/only': '1' });
  const modes = { a: 0o700, 'a/b': 0o2777 };
  for (const [path, mode] of Object.entries(modes)) await chmod(join(root.place, path), mode);
  await journal.take(['a', 'b'], ['only']);
  await journal.prune(['a', 'b'], 0);
  assert.deepEqual(await readdir(root.place), []);
  await journal.undo();
  for (const [path, mode] of Object.entries(modes))
    assert.equal((await stat(join(root.place, path))).mode & 0o7777, mode, path);
  assert.equal(await readFile(join(root.place, 'a/b/only'), 'utf8'), '1');
});

test('moves: links and files in the way of folders, and folders in the way of files, are refused', async (t) => {
  const { root, from, journal, around } = await scene(t, {
    'outside/theirs': 'theirs',
    'root/file': '1',
    'root/folder/inner': '1',
    'from/link/theirs': '2',
    'from/file/x': '2',
    'from/folder': '2',
  });
  await symlink(join(around, 'outside'), join(root.place, 'link'));
  const before = await treeDigest(around);
  const refused = (message: RegExp) => (error: unknown) => error instanceof PathError && message.test(error.message);
  const isLink = refused(/^'root\/link' goes through a link, which is not followed\.$/);
  await assert.rejects(journal.put(from, ['link'], ['theirs']), isLink);
  await assert.rejects(journal.take(['link'], ['theirs']), isLink);
  await assert.rejects(journal.list(['link']), isLink);
  await assert.rejects(journal.put(from, ['file'], ['x']), refused(/'root\/file' cannot be written: a file is where/));
  await assert.rejects(journal.put(from, [], ['folder']), refused(/'root\/folder' cannot be written: it is a folder/));
  await journal.take([], ['folder']);
  await journal.undo();
  assert.equal(await treeDigest(around), before);
});

test('moves: a link is replaced, and not what it leads to', async (t) => {
  const { root, from, journal, around } = await scene(t, { 'outside/theirs': 'theirs', 'from/link': '2' });
  await symlink(join(around, 'outside/theirs'), join(root.place, 'link'));
  await journal.put(from, [], ['link']);
  assert.equal(await readFile(join(root.place, 'link'), 'utf8'), '2');
  assert.equal(await readFile(join(around, 'outside/theirs'), 'utf8'), 'theirs');
});
