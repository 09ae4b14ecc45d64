import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createTimedPool, type TimedPool } from '../../../src/lib/workers/timed-workers.ts';
import { SOON } from '../../support/in-time.ts';

type Task = { kind: 'echo'; value: unknown } | { kind: 'block'; ms: number } | { kind: 'fill' };

const NEVER = { signal: new AbortController().signal };

function pool(
  t: TestContext,
  options: { timeoutMs?: number; longestQueue?: number } = {},
): TimedPool<Task, { value: unknown }> {
  const workers = createTimedPool<Task, { value: unknown }>({
    module: new URL('./odd-jobs-worker', import.meta.url),
    importer: import.meta.url,
    threads: 1,
    longestQueue: 10,
    heapMb: 24,
    timeoutMs: 20_000,
    ...options,
  });
  t.after(() => workers.destroy());
  return workers;
}

test('timed workers: tasks queued behind a canceled one run at once', SOON, async (t) => {
  const workers = pool(t, { timeoutMs: 900_000 });
  const given = new AbortController();
  const blocked = assert.rejects(workers.run({ kind: 'block', ms: 900_000 }, { signal: given.signal }), {
    name: 'AbortError',
  });
  const waiting = [1, 2].map((value) => workers.run({ kind: 'echo', value }, NEVER));
  setTimeout(() => given.abort(), 200);
  await blocked;
  assert.deepEqual(
    (await Promise.all(waiting)).map(({ value }) => value),
    [1, 2],
  );
});

test('timed workers: the time limit of a task starts with its turn', async (t) => {
  const workers = pool(t, { timeoutMs: 3_000 });
  // The thread has started by then, which takes a while on a slow machine.
  await workers.run({ kind: 'echo', value: 0 }, NEVER);
  const tasks = [1, 2].map(() => workers.run({ kind: 'block', ms: 1_600 }, NEVER));
  await Promise.all(tasks);
  await assert.rejects(workers.run({ kind: 'block', ms: 20_000 }, NEVER), { message: 'took longer than 3 s to read' });
});

test('timed workers: a waiting task can be canceled, and never starts', async (t) => {
  const workers = pool(t);
  const first = workers.run({ kind: 'block', ms: 500 }, NEVER);
  await assert.rejects(workers.run({ kind: 'block', ms: 20_000 }, { signal: AbortSignal.timeout(50) }), {
    name: 'TimeoutError',
  });
  await first;
  assert.equal((await workers.run({ kind: 'echo', value: 'next' }, NEVER)).value, 'next');
});

test('timed workers: refuses a task that needs too much memory, or a full queue, with a message', async (t) => {
  const workers = pool(t, { longestQueue: 1 });
  await assert.rejects(workers.run({ kind: 'fill' }, NEVER), { message: 'is too large to read' });
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => workers.run({ kind: 'block', ms: 50 }, NEVER)));
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected'],
  );
});
