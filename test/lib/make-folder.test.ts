import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../src/lib/make-folder.ts';
import { tempDir } from '../support/databases/databases.ts';

test('make folder: creates missing parents and returns the topmost', async (t) => {
  const root = await tempDir(t);
  const folder = join(root, 'a', 'b', 'c');
  assert.equal(await makeFolder(folder), join(root, 'a'));
  assert.ok((await stat(folder)).isDirectory());
  assert.equal(await makeFolder(folder), undefined);
  assert.equal(await makeFolder(join(folder, 'd')), join(folder, 'd'));
});

test('make folder: fails where no folder can be created', {
  skip: process.platform !== 'linux' && 'there is no /proc',
}, async () => {
  await assert.rejects(makeFolder('/proc/none/below'), { code: 'ENOENT' });
});
