import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readLockfile } from '../../src/install/lockfile/lockfile.ts';
import { verifyPythonPackage } from '../../src/install/verify/python.ts';
import { fileDigest, treeDigest } from '../../src/lib/file-digest.ts';
import { openPlainFile } from '../../src/lib/plain-file.ts';
import { aFolder } from '../install/installing.ts';

/** What waits for the other end of a pipe waits for good. */
const options = { timeout: 60_000, skip: process.platform === 'win32' };

test('plain file: pipes, sockets and folders are none, and are not waited for', options, async (t) => {
  const folder = await aFolder(t);
  await writeFile(join(folder, 'file'), 'text');
  const file = await openPlainFile(join(folder, 'file'));
  assert.equal(await file?.readFile('utf8'), 'text');
  await file?.close();
  await mkdir(join(folder, 'folder'));
  makePipe(join(folder, 'pipe'));
  await makeSocket(t, join(folder, 'socket'));
  for (const name of ['folder', 'pipe', 'socket'])
    assert.equal(await openPlainFile(join(folder, name)), undefined, name);
  await symlink('file', join(folder, 'link'));
  await assert.rejects(openPlainFile(join(folder, 'link')), { code: 'ELOOP' });
  await assert.rejects(openPlainFile(join(folder, 'none')), { code: 'ENOENT' });
});

test('files: a pipe has no digest, and is part of that of its folder without being read', options, async (t) => {
  const folder = await aFolder(t);
  const empty = await treeDigest(folder);
  makePipe(join(folder, 'pipe'));
  assert.doesNotMatch(await fileDigest(join(folder, 'pipe')), /^sha256:/);
  const withPipe = await treeDigest(folder);
  assert.match(withPipe, /^sha256:/);
  assert.notEqual(withPipe, empty);
});

test('lockfile: a pipe in its place is told, not waited for', options, async (t) => {
  const folder = await aFolder(t);
  makePipe(join(folder, 'hub.lock.json'));
  await assert.rejects(readLockfile(folder), { name: 'PathError', message: /is no file/ });
});

for (const [pipe, reason] of [
  ['thing-1.0.dist-info/METADATA', /of version none/],
  ['thing-1.0.dist-info/RECORD', /RECORD was changed/],
  ['thing.py', /thing\.py was changed/],
] as const)
  test(`verify: a pipe in the place of ${pipe} of a package is a change, not waited for`, options, async (t) => {
    const targetDir = await aFolder(t);
    const packages = join(targetDir, '.venv/lib/python3.12/site-packages');
    await mkdir(join(packages, 'thing-1.0.dist-info'), { recursive: true });
    const files: Record<string, string> = {
      'thing-1.0.dist-info/METADATA': 'Name: thing\nVersion: 1.0\n',
      'thing-1.0.dist-info/RECORD': 'thing.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n',
      'thing.py': '',
    };
    const artifact = {
      kind: 'pypi',
      spec: { package: 'thing' },
      resolved: 'thing==1.0',
      integrity: null,
      path: '.venv',
      ok: true,
    };
    const { [pipe]: _replaced, ...others } = files;
    for (const [name, text] of Object.entries(others)) await writeFile(join(packages, name), text);
    makePipe(join(packages, pipe));
    const found = await verifyPythonPackage(artifact, { targetDir });
    assert.equal(found.outcome, 'different');
    assert.match(JSON.stringify(found), reason);
  });

function makePipe(path: string): void {
  execFileSync('mkfifo', [path]);
}

async function makeSocket(t: TestContext, path: string): Promise<void> {
  const server = createServer();
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(path, resolve));
}
