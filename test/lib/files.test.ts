import assert from 'node:assert/strict';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { fileDigest, treeDigest } from '../../src/lib/file-digest.ts';
import { makeFolderInside, writeFileInside } from '../../src/lib/files.ts';
import { pathInside, relativePathFault } from '../../src/lib/path-inside.ts';

const REFUSED: Record<string, RegExp> = {
  '': /empty/,
  '..': /'\.\.'/,
  'a/../b': /'\.\.'/,
  '../a': /'\.\.'/,
  '/etc/passwd': /relative/,
  'C:/windows': /relative/,
  'c:x': /relative/,
  'a\\..\\b': /'\\'/,
  './a': /'\.'/,
  'a//b': /empty segments/,
  'a/./b': /'\.'/,
  'a\u0000b': /control/,
  'a\nb': /control/,
  'a\ud800': /control/,
  [`${'x'.repeat(256)}/a`]: /too long/,
  ['a/'.repeat(600)]: /longer/,
};

for (const [path, reason] of Object.entries(REFUSED)) {
  test(`files: ${JSON.stringify(path.slice(0, 30))} is no path inside a folder`, async (t) => {
    assert.match(relativePathFault(path) ?? '', reason);
    await assert.rejects(pathInside(await folder(t), path), { name: 'PathError' });
  });
}

for (const path of ['a', 'a/b/c.txt', '.cursor/mcp.json', 'ü/名前', 'a b', '...', 'a..b', '-x', 'folder/']) {
  test(`files: ${JSON.stringify(path)} is a path inside a folder`, () =>
    assert.equal(relativePathFault(path), undefined));
}

test('files: no text leads out of the folder', async (t) => {
  const root = await folder(t);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('..', '.', '', 'a', '/', '\\', '~', 'C:', '%2e%2e'), { maxLength: 6 }),
      async (parts) => {
        const whole = await pathInside(root, parts.join('/')).catch(() => undefined);
        assert.ok(whole === undefined || whole.startsWith(`${root}/`));
      },
    ),
  );
});

test('files: links on the way are refused, wherever they lead', async (t) => {
  const root = await folder(t);
  const outside = await folder(t);
  await mkdir(join(root, 'real'));
  await symlink(outside, join(root, 'out'));
  await symlink('real', join(root, 'in'));
  await symlink('/no/such/place', join(root, 'dangling'));
  for (const path of ['out', 'out/x', 'in/x', 'dangling', 'dangling/x']) {
    await assert.rejects(writeFileInside(root, path, 'text'), { name: 'PathError', message: /link/ }, path);
    await assert.rejects(makeFolderInside(root, path), { name: 'PathError' }, path);
  }
  assert.deepEqual(await readdir(outside), []);
});

test('files: a file is written whole, into folders that are made for it', async (t) => {
  const root = await folder(t);
  const path = await writeFileInside(root, 'a/b/c.txt', 'one');
  assert.equal(path, join(root, 'a/b/c.txt'));
  await writeFileInside(root, 'a/b/c.txt', Buffer.from('two'));
  assert.equal(await readFile(path, 'utf8'), 'two');
  assert.deepEqual(await readdir(join(root, 'a/b')), ['c.txt'], 'nothing unfinished is left');
});

test('files: whoever may read a file may read what replaces it, and nobody else', async (t) => {
  const root = await folder(t);
  const modeOf = async (path: string) => ((await stat(join(root, path))).mode & 0o777).toString(8);
  const asUsual = (0o644 & ~process.umask()).toString(8);
  await writeFileInside(root, 'a', 'one');
  assert.equal(await modeOf('a'), asUsual);
  for (const mode of ['600', '664', '755', '400']) {
    await chmod(join(root, 'a'), Number.parseInt(mode, 8));
    await writeFileInside(root, 'a', mode);
    await writeFileInside(root, `a.${mode}`, 'copy', { accessOf: 'a' });
    assert.deepEqual([await modeOf('a'), await modeOf(`a.${mode}`)], [mode, mode]);
  }
  await writeFileInside(root, 'b', 'of a file that is not there', { accessOf: 'gone' });
  assert.equal(await modeOf('b'), asUsual);
});

test('files: a file that belongs to somebody else still does when it is replaced', {
  skip: process.getuid?.() !== 0 && 'only root gives files away',
}, async (t) => {
  const root = await folder(t);
  await writeFileInside(root, 'a', 'one');
  await chmod(join(root, 'a'), 0o640);
  await chown(join(root, 'a'), 1234, 2345);
  await writeFileInside(root, 'a', 'two');
  const { uid, gid, mode } = await stat(join(root, 'a'));
  assert.deepEqual([uid, gid, mode & 0o777], [1234, 2345, 0o640]);
});

test('files: a file in the place of a folder, and a folder in the place of a file, are named', async (t) => {
  const root = await folder(t);
  await writeFileInside(root, 'a', 'text');
  await mkdir(join(root, 'folder'));
  await assert.rejects(writeFileInside(root, 'a/b', 'x'), { name: 'PathError', message: /'a' is a file/ });
  await assert.rejects(writeFileInside(root, 'folder', 'x'), { name: 'PathError', message: /is a folder/ });
});

test('files: the digest of a folder tells what is in it, not when or in which order it was made', async (t) => {
  const [one, other] = [await folder(t), await folder(t)];
  for (const path of ['b', 'a/x', 'ü']) await writeFileInside(one, path, path);
  for (const path of ['ü', 'a/x', 'b']) await writeFileInside(other, path, path);
  assert.equal(await treeDigest(one), await treeDigest(other));
  assert.match(
    await fileDigest(join(one, 'b')),
    /^sha256:3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d$/,
  );
  const changes = [
    () => writeFile(join(other, 'b'), 'changed'),
    () => chmod(join(other, 'b'), 0o755),
    () => mkdir(join(other, 'empty')),
    () => symlink('b', join(other, 'link')),
  ];
  const seen = new Set([await treeDigest(other)]);
  for (const change of changes) {
    await change();
    const digest = await treeDigest(other);
    assert.ok(!seen.has(digest));
    seen.add(digest);
  }
  assert.equal(await readlink(join(other, 'link')), 'b');
  assert.notEqual(await treeDigest(other, { skip: ['empty'] }), await treeDigest(other));
});

async function folder(t: TestContext): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'hub-files-')));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}
