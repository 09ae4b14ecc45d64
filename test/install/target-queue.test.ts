import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTargetQueue } from '../../src/install/target-queue.ts';
import { aFolder, failToUnlink } from './installing.ts';
import { whileSwapping } from './swapping.ts';

const { signal } = new AbortController();

test('queue: installs into one target take turns, in the order they came', async (t) => {
  const target = await aFolder(t);
  const queue = createTargetQueue(4);
  const order: string[] = [];
  const work = (name: string) =>
    queue(target, signal, async () => {
      order.push(`${name} begins`);
      await sleep(20);
      order.push(`${name} ends`);
    });
  await Promise.all(['a', 'b', 'c'].map(work));
  assert.deepEqual(
    order,
    ['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]),
  );
});

test('queue: different targets run at the same time, up to the limit; a failure costs nobody their turn', async (t) => {
  const targets = await Promise.all(Array.from({ length: 6 }, () => aFolder(t)));
  const queue = createTargetQueue(3);
  let [atOnce, most] = [0, 0];
  const work = async () => {
    atOnce += 1;
    most = Math.max(most, atOnce);
    await sleep(50);
    atOnce -= 1;
    throw new Error('failed');
  };
  const results = await Promise.allSettled(targets.map((target) => queue(target, signal, work)));
  assert.deepEqual([most, results.length], [3, 6]);
  assert.equal(await queue(targets[0] ?? '', signal, async () => 'next'), 'next');
});

test('queue: a target that another process has is waited for, and is free when that process is killed', async (t) => {
  const target = await aFolder(t);
  await createTargetQueue(1)(target, signal, async () => {});
  const script = new URL('./holding-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, join(target, '.hub/lock')], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  let isDone = false;
  const waiting = createTargetQueue(1)(target, signal, async () => {
    isDone = true;
  });
  await sleep(500);
  assert.equal(isDone, false, 'it waits');
  child.kill('SIGKILL');
  await waiting;
  assert.equal(isDone, true);
});

test('queue: whoever waits is let go when the work is stopped', async (t) => {
  const target = await aFolder(t);
  const [one, other] = [createTargetQueue(1), createTargetQueue(1)];
  const release = Promise.withResolvers<void>();
  const isHeld = Promise.withResolvers<void>();
  const holding = one(target, signal, () => {
    isHeld.resolve();
    return release.promise;
  });
  await isHeld.promise;
  const stopping = new AbortController();
  const waiting = other(target, stopping.signal, async () => {});
  setTimeout(() => stopping.abort(), 100);
  await assert.rejects(waiting, { name: 'AbortError' });
  release.resolve();
  await holding;
});

test('queue: what an install that was killed left behind is tidied up', async (t) => {
  const target = await aFolder(t);
  const scratch = join(target, `.hub/scratch-${randomUUID()}`);
  await mkdir(join(scratch, 'deep'), { recursive: true });
  await writeFile(join(scratch, 'deep/half'), 'x');
  await createTargetQueue(1)(target, signal, async () => {});
  assert.deepEqual((await readdir(join(target, '.hub'))).toSorted(), ['.gitignore', 'lock']);
});

test('queue: what a person keeps in .hub stays there', async (t) => {
  const target = await aFolder(t);
  const theirs = ['notes', 'scratch-pad', `scratch-${randomUUID()}.txt`, 'lock.unfinished', `old-${randomUUID()}`];
  for (const name of theirs) await mkdir(join(target, '.hub', name, 'inside'), { recursive: true });
  await createTargetQueue(1)(target, signal, async () => {});
  const found = await readdir(join(target, '.hub'), { recursive: true });
  const expected = ['.gitignore', 'lock', ...theirs.flatMap((name) => [name, `${name}/inside`])];
  assert.deepEqual(found.toSorted(), expected.toSorted());
});

test('queue: a folder that an install was killed in replacing is put back, unless another has its place', async (t) => {
  const target = await aFolder(t);
  const scratch = join(target, `.hub/scratch-${randomUUID()}`);
  const leave = async (name: string, path: string) => {
    await mkdir(join(scratch, name), { recursive: true });
    await writeFile(join(scratch, name, 'file'), 'old');
    await writeFile(join(scratch, `${name}.path`), path);
  };
  await leave('old-1', 'vendor/gone');
  await leave('old-2', 'vendor/there');
  await leave('old-3', '.git/hooks');
  await leave('old-4', '../outside');
  await mkdir(join(target, 'vendor/there'), { recursive: true });
  await writeFile(join(target, 'vendor/there/file'), 'new');
  await createTargetQueue(1)(target, signal, async () => {});
  const texts = ['gone', 'there'].map((name) => readFile(join(target, 'vendor', name, 'file'), 'utf8'));
  assert.deepEqual(await Promise.all(texts), ['old', 'new']);
  assert.deepEqual((await readdir(target)).toSorted(), ['.hub', 'vendor']);
  assert.deepEqual((await readdir(join(target, '.hub'))).toSorted(), ['.gitignore', 'lock']);
});

test('queue: an install that is killed between the two moves of a folder has lost nothing', async (t) => {
  const target = await aFolder(t);
  const scratch = join(target, `.hub/scratch-${randomUUID()}`);
  for (const [folder, text] of [
    [join(target, 'vendor/thing'), 'old'],
    [join(scratch, 'new'), 'new'],
  ] as const) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'file'), text);
  }
  // Ended for good at the second move, as by a signal.
  const script = `
    const { syncBuiltinESMExports } = await import('node:module');
    const fs = (await import('node:fs/promises')).default;
    const { rename } = fs;
    fs.rename = (from, to) => (from.endsWith('/new') ? process.kill(process.pid, 'SIGKILL') : rename(from, to));
    syncBuiltinESMExports();
    const { replaceInside } = await import(process.argv[1]);
    const [, , root, attic] = process.argv;
    await replaceInside(root, 'vendor/thing', attic + '/new', attic);`;
  const files = new URL('../../src/lib/replace-inside.ts', import.meta.url).href;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, files, target, scratch]);
  const [, killedBy] = await once(child, 'exit');
  assert.equal(killedBy, 'SIGKILL');
  await assert.rejects(readFile(join(target, 'vendor/thing/file')), { code: 'ENOENT' });
  await createTargetQueue(1)(target, signal, async () => {});
  assert.equal(await readFile(join(target, 'vendor/thing/file'), 'utf8'), 'old');
});

test('queue: of a file that an install was killed in writing nothing stays', async (t) => {
  const target = await aFolder(t);
  const queue = createTargetQueue(1);
  await queue(target, signal, async () => {});
  const script = `
    const { syncBuiltinESMExports } = await import('node:module');
    const fs = (await import('node:fs/promises')).default;
    fs.rename = () => process.kill(process.pid, 'SIGKILL');
    syncBuiltinESMExports();
    const { writeFileInside } = await import(process.argv[1]);
    await writeFileInside(process.argv[2], 'a/file', 'text');`;
  const files = new URL('../../src/lib/files.ts', import.meta.url).href;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, files, target]);
  const [, killedBy] = await once(child, 'exit');
  assert.equal(killedBy, 'SIGKILL');
  assert.deepEqual(await readdir(join(target, 'a')), []);
  await queue(target, signal, async () => {});
  assert.deepEqual((await readdir(join(target, '.hub'))).toSorted(), ['.gitignore', 'lock']);
});

test('queue: nothing is still being removed when a target is let go of, also where a part of that failed', async (t) => {
  const [target, outside] = [await aFolder(t), await aFolder(t)];
  const scratch = () => join(target, `.hub/scratch-${randomUUID()}`);
  const [failing, long] = [scratch(), scratch()];
  await mkdir(join(failing, 'old-1'), { recursive: true });
  await writeFile(join(failing, 'old-1.path'), 'vendor/x');
  await symlink(outside, join(target, 'vendor'));
  for (let number = 0; number < 300; number += 1) await mkdir(join(long, `folder-${number}`), { recursive: true });
  await createTargetQueue(1)(target, signal, async () => {}).catch(() => {});
  await assert.rejects(readdir(long), { code: 'ENOENT' });
});

test('queue: what cannot be put back or removed costs nobody the target, and is not lost', async (t) => {
  const [target, outside] = [await aFolder(t), await aFolder(t)];
  const scratch = () => join(target, `.hub/scratch-${randomUUID()}`);
  const [misplaced, stuck, plain] = [scratch(), scratch(), scratch()];
  for (const folder of [join(misplaced, 'old-1'), stuck, plain]) await mkdir(folder, { recursive: true });
  await writeFile(join(misplaced, 'old-1/file'), 'x');
  await writeFile(join(misplaced, 'old-1.path'), 'vendor/x');
  await symlink(outside, join(target, 'vendor'));
  await writeFile(join(stuck, 'stuck'), 'x');
  failToUnlink(t, 'stuck');
  assert.equal(await createTargetQueue(1)(target, signal, async () => 'done'), 'done');
  assert.equal(await readFile(join(misplaced, 'old-1/file'), 'utf8'), 'x');
  assert.deepEqual(await readdir(outside), []);
  await assert.rejects(readdir(plain), { code: 'ENOENT' });
});

test('queue: a lock that is none is told, not overwritten', async (t) => {
  const target = await aFolder(t);
  await mkdir(join(target, '.hub'));
  await writeFile(join(target, '.hub/lock'), 'x'.repeat(2000));
  await assert.rejects(
    createTargetQueue(1)(target, signal, async () => {}),
    { code: 'invalid_request', message: /target cannot be used/ },
  );
});

test('queue: a link that takes the place of .hub again and again leads to nothing being removed or made', async (t) => {
  const [target, outside] = [await aFolder(t), await aFolder(t)];
  const precious = ['one', 'two', 'three'];
  for (const name of precious) await writeFile(join(outside, name), 'x');
  await mkdir(join(target, '.hub'));
  const queue = createTargetQueue(1);
  let turns = 0;
  await whileSwapping(t, { folder: join(target, '.hub'), outside }, async () => {
    for (const end = Date.now() + 3_000; Date.now() < end; turns += 1)
      await queue(target, signal, async () => {}).catch(() => {});
  });
  assert.deepEqual((await readdir(outside)).toSorted(), precious.toSorted(), `after ${turns} turns`);
});
