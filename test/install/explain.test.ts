// Errors of the system, as steps of an install tell them.
import assert from 'node:assert/strict';
import { open, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { vendorTree } from '../../src/install/artifacts/place.ts';
import { explain, isUnexpected } from '../../src/install/explain.ts';
import { runStep } from '../../src/install/step.ts';
import { testWorld } from '../support/world.ts';
import { aFolder } from './installing.ts';

const INSIDE_THE_HUB = /went wrong inside the hub/;

test('explain: a folder that others change while it is read fails the step with a sentence', async (t) => {
  const folder = await aFolder(t);
  await writeFile(join(folder, 'file'), '');
  await symlink('loop', join(folder, 'loop'));
  const found: Record<string, () => Promise<unknown>> = {
    'moved or removed while': () => vendorTree(join(folder, 'gone')),
    'A file is where a folder should be': () => vendorTree(join(folder, 'file')),
    'A folder is where a file should be': () => readFile(folder),
    'a link in the way': () => open(join(folder, 'loop')),
    'longer than this filesystem allows': () => open(join(folder, 'x'.repeat(300))),
  };
  for (const [sentence, work] of Object.entries(found)) {
    const world = testWorld();
    t.after(world.close);
    const { result } = await runStep('zip.extract', { onEvent: () => {}, log: world.log }, async () => ({
      value: await work(),
    }));
    assert.equal(result.ok, false);
    assert.match(String(result.extra?.error), new RegExp(sentence));
    assert.ok(!String(result.extra?.error).includes(folder));
    assert.deepEqual(world.logged, [], 'nobody looks for a fault of the hub');
  }
});

for (const code of [
  ...['ENOENT', 'EACCES', 'EPERM', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENAMETOOLONG', 'ENOSPC', 'EROFS', 'EMFILE', 'ENFILE'],
  ...['EEXIST', 'ENOTEMPTY', 'EBUSY', 'ETXTBSY', 'EINVAL', 'ENOMEM', 'ESTALE', 'EMLINK', 'EILSEQ', 'EAGAIN', 'EDQUOT'],
]) {
  test(`explain: ${code} is a sentence without paths`, () => {
    const error = Object.assign(new Error(`${code}: no, open '/srv/secret/place'`), {
      code,
      errno: -1,
      syscall: 'open',
    });
    assert.match(explain(error), /^[A-Z].{20,}\.$/);
    assert.doesNotMatch(explain(error), INSIDE_THE_HUB);
    assert.doesNotMatch(explain(error), /secret/);
  });
}

test('explain: an error of the system that nobody thought of is told by its code, and logged', () => {
  const error = Object.assign(new Error('EOWNERDEAD: x'), { code: 'EOWNERDEAD', errno: -130, syscall: 'rename' });
  assert.match(explain(error), /\(EOWNERDEAD while doing rename\)/);
  assert.equal(isUnexpected(error), true);
  assert.match(explain(new TypeError('x is not a function')), INSIDE_THE_HUB);
  assert.match(explain(Object.assign(new Error('x'), { code: 'ERR_INVALID_ARG_TYPE' })), INSIDE_THE_HUB);
});
