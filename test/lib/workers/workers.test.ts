import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createWorkerPool, type WorkerPool } from '../../../src/lib/workers/workers.ts';
import { tempDir } from '../../support/databases/databases.ts';
import { SOON } from '../../support/in-time.ts';
import { until } from '../../support/until.ts';

type Task = { kind: 'echo'; value: unknown } | { kind: 'block'; ms: number } | { kind: 'fill' };

const ODD_JOBS = {
  module: new URL('./odd-jobs-worker', import.meta.url),
  importer: import.meta.url,
  data: { name: 'test' },
  threads: 1,
  kept: 0,
  longestQueue: 10,
  heapMb: 24,
};

function pool(t: TestContext, options: { threads?: number; longestQueue?: number } = {}): WorkerPool<Task, unknown> {
  const workers = createWorkerPool<Task, unknown>({ ...ODD_JOBS, ...options });
  t.after(() => workers.destroy());
  return workers;
}

test('workers: run tasks on other threads, with their data', async (t) => {
  const answer = await pool(t).run({ kind: 'echo', value: [1, 'é'] });
  assert.deepEqual(answer, { value: [1, 'é'], data: { name: 'test' }, isMainThread: false });
});

test('workers: a task that needs too much memory fails alone, and the next one succeeds', async (t) => {
  const workers = pool(t);
  await assert.rejects(workers.run({ kind: 'fill' }));
  assert.deepEqual(((await workers.run({ kind: 'echo', value: 1 })) as { value: number }).value, 1);
});

test('workers: a canceled task does not block the next one', SOON, async (t) => {
  const workers = pool(t);
  await assert.rejects(workers.run({ kind: 'block', ms: 900_000 }, { signal: AbortSignal.timeout(100) }));
  assert.deepEqual(((await workers.run({ kind: 'echo', value: 2 })) as { value: number }).value, 2);
});

test('workers: refuse tasks over the queue limit', async (t) => {
  const workers = pool(t, { longestQueue: 1 });
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => workers.run({ kind: 'block', ms: 50 })));
  assert.ok(outcomes.some(({ status }) => status === 'fulfilled'));
  const refused = outcomes.find(({ status }) => status === 'rejected');
  assert.match(String(refused?.status === 'rejected' && refused.reason), /queue is at limit/i);
});

test('workers: closing finishes running tasks, and starts no others', async (t) => {
  const workers = pool(t);
  await workers.run({ kind: 'echo', value: 0 });
  const last = [{ kind: 'block', ms: 4_000 } as const, { kind: 'echo', value: 1 } as const].map((task) =>
    workers.run(task),
  );
  await workers.close();
  assert.deepEqual(((await last[1]) as { value: number }).value, 1);
  await assert.rejects(workers.run({ kind: 'echo', value: 2 }), /have been stopped/);
});

test('workers: threads that cannot start fail their tasks, and later ones start again', SOON, async (t) => {
  const file = join(await tempDir(t), 'text');
  const workers = createWorkerPool<undefined, string>({
    ...ODD_JOBS,
    module: new URL('./late-file-worker', import.meta.url),
    data: { file },
    kept: 1,
  });
  t.after(() => workers.destroy());
  await assert.rejects(workers.run(undefined));
  await assert.rejects(workers.run(undefined));
  await writeFile(file, 'there');
  assert.equal(await workers.run(undefined), 'there');
});

test('workers: a thread is never ended while it loads, because Node would end the whole process', async () => {
  const counts = new Int32Array(new SharedArrayBuffer(8));
  const workers = createWorkerPool<undefined, void>({
    ...ODD_JOBS,
    module: new URL('./slow-loading-worker', import.meta.url),
    data: { counts },
    threads: 3,
    kept: 1,
  });
  const tasks = Promise.allSettled([1, 2, 3, 4].map(() => workers.run(undefined)));
  await until(() => Atomics.load(counts, 0) > 0);
  await workers.destroy();
  await tasks;
  assert.equal(Atomics.load(counts, 1), Atomics.load(counts, 0));
});
