import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readLockfile } from '../../src/install/lockfile/lockfile.ts';
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
  await assert.rejects(readLockfile(folder), { name: 'PathError', message: /is not a file/ });
});

function makePipe(path: string): void {
  execFileSync('mkfifo', [path]);
}

async function makeSocket(t: TestContext, path: string): Promise<void> {
  const server = createServer();
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(path, resolve));
}
