import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockFile } from '../../src/lib/file-lock.ts';
import { aFolder } from '../install/installing.ts';

const { signal } = new AbortController();

test('lock: the next one waits until it is released, and leaves nothing in the file', async (t) => {
  const path = join(await aFolder(t), 'lock');
  const first = await lockFile(path, signal);
  let isTheirs = false;
  const second = lockFile(path, signal).then((lock) => {
    isTheirs = true;
    return lock;
  });
  await sleep(250);
  assert.equal(isTheirs, false);
  first.release();
  (await second).release();
  assert.equal((await readFile(path)).length, 0);
});

test('lock: one on another file than the one that is there is none', {
  skip: !fs.existsSync('/proc/self/fd') && 'the system does not tell which files are open',
}, async (t) => {
  const path = join(await aFolder(t), 'lock');
  const { readdirSync } = fs;
  // Where SQLite went by way of a link that came meanwhile, it has locked a file that is not here.
  const swapAndList = (...args: Parameters<typeof readdirSync>) => {
    fs.renameSync(path, `${path}-elsewhere`);
    fs.writeFileSync(path, '');
    return readdirSync(...args);
  };
  t.mock.method(fs, 'readdirSync', swapAndList);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  await assert.rejects(lockFile(path, signal), { code: 'ELOOP' });
});

test('lock: it holds against other processes, also while somebody in this one waits for it', async (t) => {
  const path = join(await aFolder(t), 'lock');
  const first = await lockFile(path, signal);
  const giveUp = new AbortController();
  const second = lockFile(path, giveUp.signal);
  const other = startHolder(t, path);
  const isTaken = await Promise.race([once(other.stdout ?? other, 'data').then(() => true), sleep(1_500, false)]);
  assert.equal(isTaken, false, 'the other process waits');
  giveUp.abort();
  await assert.rejects(second, { name: 'AbortError' });
  first.release();
  await once(other.stdout ?? other, 'data');
});

test('lock: whoever stops waiting is let go at once', async (t) => {
  const path = join(await aFolder(t), 'lock');
  const first = await lockFile(path, signal);
  await assert.rejects(lockFile(path, AbortSignal.timeout(50)), { name: /AbortError|TimeoutError/ });
  await assert.rejects(lockFile(path, AbortSignal.abort()), { name: 'AbortError' });
  first.release();
});

test('lock: links, folders and files with something in them are no locks', async (t) => {
  const folder = await aFolder(t);
  await writeFile(join(folder, 'elsewhere'), '');
  await symlink(join(folder, 'elsewhere'), join(folder, 'link'));
  await symlink(join(folder, 'nowhere'), join(folder, 'dangling'));
  await mkdir(join(folder, 'folder'));
  await writeFile(join(folder, 'text'), 'x'.repeat(2_000));
  for (const name of ['link', 'dangling']) await assert.rejects(lockFile(join(folder, name), signal), /ELOOP/);
  await assert.rejects(lockFile(join(folder, 'folder'), signal), /EISDIR/);
  await assert.rejects(lockFile(join(folder, 'text'), signal), /not a database/);
  assert.equal(await readFile(join(folder, 'text'), 'utf8'), 'x'.repeat(2_000));
});

function startHolder(t: TestContext, path: string): ChildProcess {
  const script = new URL('../install/holding-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  return child;
}
