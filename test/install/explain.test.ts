// Errors of the system, as steps of an install tell them.
import assert from 'node:assert/strict';
import { mkdir, open, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readNpmLock } from '../../src/install/artifacts/npm-lock.ts';
import { installedVersions } from '../../src/install/artifacts/pypi-environment.ts';
import { explain, isUnexpected } from '../../src/install/explain.ts';
import { runStep } from '../../src/install/step.ts';
import { treeOf } from '../../src/install/tree.ts';
import { testWorld } from '../support/world.ts';
import { aFolder } from './installing.ts';

const INSIDE_THE_HUB = /went wrong inside the hub/;

test('explain: a folder that others change while it is read fails the step with a sentence', async (t) => {
  const folder = await aFolder(t);
  await writeFile(join(folder, 'file'), '');
  await symlink('loop', join(folder, 'loop'));
  const found: Record<string, () => Promise<unknown>> = {
    'moved or removed while': () => treeOf('zip', { path: 'gone' }, folder),
    'A file is where a folder should be': () => treeOf('zip', { path: 'file' }, folder),
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

test('explain: a package-lock.json that is broken, or no lockfile of npm, is told by its name', async (t) => {
  const folder = await aFolder(t);
  for (const text of ['{', '[]', '{"packages":{"node_modules/a":{"version":7}}}']) {
    await writeFile(join(folder, 'package-lock.json'), text);
    const error = await readNpmLock(folder, 'a').catch((thrown: unknown) => thrown);
    assert.match(explain(error), /package-lock\.json in the target cannot be understood/);
  }
});

test('explain: an environment that lost its packages has none', async (t) => {
  const folder = await aFolder(t);
  await mkdir(join(folder, '.venv', 'lib', 'python3.12'), { recursive: true });
  assert.deepEqual([...(await installedVersions(folder))], []);
});
