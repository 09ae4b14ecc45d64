import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTargetQueue } from '../../src/install/target/target-queue.ts';
import { aFolder } from './installing.ts';

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
  const staging = join(target, `.hub/staging/${randomUUID()}`);
  await mkdir(join(staging, 'deep'), { recursive: true });
  await writeFile(join(staging, 'deep/half'), 'x');
  await createTargetQueue(1)(target, signal, async () => {});
  assert.deepEqual((await readdir(join(target, '.hub'))).toSorted(), ['.gitignore', 'lock']);
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

test('queue: a lock that is none is told, not overwritten', async (t) => {
  const target = await aFolder(t);
  await mkdir(join(target, '.hub'));
  await writeFile(join(target, '.hub/lock'), 'x'.repeat(2000));
  await assert.rejects(
    createTargetQueue(1)(target, signal, async () => {}),
    { code: 'invalid_request', message: /target cannot be used/ },
  );
});
