import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  createWorkerProcess,
  type WorkerProcess,
  type WorkerProcessError,
  type WorkerProcessOptions,
} from '../../src/lib/worker-process.ts';
import { tempDir } from '../support/databases.ts';
import type { OddJob, OddSetup } from './odd-process-worker.ts';

const OWNER = fileURLToPath(new URL('./worker-process-owner.ts', import.meta.url));

type OddOptions = Partial<Pick<WorkerProcessOptions, 'idleMs' | 'taskMs' | 'restAfterLossMs'>> & { setup?: OddSetup };

function aProcess(t: TestContext, options: OddOptions = {}): WorkerProcess<OddJob, unknown> {
  const worker = createWorkerProcess<OddJob, unknown>({
    module: new URL('./odd-process-worker', import.meta.url),
    importer: import.meta.url,
    env: { GIVEN: 'yes' },
    idleMs: 60_000,
    taskMs: 60_000,
    heapMb: 24,
    ...options,
  });
  t.after(() => worker.close());
  return worker;
}

async function pidOf(worker: WorkerProcess<OddJob, unknown>): Promise<number> {
  return ((await worker.run({ kind: 'who' })) as { pid: number }).pid;
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function assertGone(pid: number): Promise<void> {
  for (let tries = 100; isThere(pid); tries -= 1) {
    assert.ok(tries > 0, `process ${pid} is still there`);
    await sleep(100);
  }
}

test('worker process: does the work elsewhere, with typed arrays, and without the environment of its owner', async (t) => {
  process.env.A_SECRET_OF_THE_HUB = 'hunter2';
  t.after(() => {
    delete process.env.A_SECRET_OF_THE_HUB;
  });
  const worker = aProcess(t);
  const value = { texts: ['é', '\ud800'], vectors: [Float32Array.from([1, 2])] };
  assert.deepEqual(await worker.run({ kind: 'echo', value }), value);
  const { pid, environment } = (await worker.run({ kind: 'who' })) as { pid: number; environment: string[] };
  assert.notEqual(pid, process.pid);
  assert.ok(environment.includes('GIVEN'));
  // Not the whole list: what measures coverage, for example, adds something of its own to every process.
  for (const name of ['A_SECRET_OF_THE_HUB', 'PATH', 'HOME']) assert.ok(!environment.includes(name), name);
});

test('worker process: one task after the other, in order', async (t) => {
  const worker = aProcess(t);
  const done: number[] = [];
  await Promise.all(
    [30, 1, 10].map(async (ms) => {
      await worker.run({ kind: 'wait', ms });
      done.push(ms);
    }),
  );
  assert.deepEqual(done, [30, 1, 10]);
});

test('worker process: is ended when it is put to rest, and started for the next task', async (t) => {
  const worker = aProcess(t);
  worker.rest();
  const first = await pidOf(worker);
  assert.equal(await pidOf(worker), first);
  worker.rest();
  worker.rest();
  await assertGone(first);
  assert.notEqual(await pidOf(worker), first);
});

test('worker process: whoever asks right after the rest meets a new one', async (t) => {
  const worker = aProcess(t);
  for (let round = 0; round < 5; round += 1) {
    assert.equal(await worker.run({ kind: 'echo', value: round }), round);
    worker.rest();
  }
});

test('worker process: is not put to rest while it works', async (t) => {
  const worker = aProcess(t);
  const before = await pidOf(worker);
  const work = worker.run({ kind: 'wait', ms: 200 });
  const next = pidOf(worker);
  worker.rest();
  await work;
  assert.equal(await next, before);
});

test('worker process: ends by itself when it has had nothing to do for a while', async (t) => {
  const worker = aProcess(t, { idleMs: 200 });
  const first = await pidOf(worker);
  await assertGone(first);
  assert.notEqual(await pidOf(worker), first);
});

test('worker process: a task that fails costs nothing but itself', async (t) => {
  const worker = aProcess(t);
  const before = await pidOf(worker);
  await assert.rejects(worker.run({ kind: 'fail' }), /^Error: It did not work\.$/);
  assert.equal(await pidOf(worker), before);
});

test('worker process: one that crashes fails its task, and the next is done by another', async (t) => {
  const worker = aProcess(t);
  const outcomes = await Promise.allSettled([
    worker.run({ kind: 'die' }),
    worker.run({ kind: 'echo', value: 1 }),
    worker.run({ kind: 'fill' }),
    worker.run({ kind: 'echo', value: 2 }),
  ]);
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'failed')),
    ['failed', 1, 'failed', 2],
  );
  assert.match(String((outcomes[0] as PromiseRejectedResult).reason), /ended by itself \(/);
});

test('worker process: one that was killed while it rested is started anew', async (t) => {
  const worker = aProcess(t);
  const first = await pidOf(worker);
  process.kill(first, 'SIGKILL');
  // Gone means that its end was heard of here: until then the number is taken.
  await assertGone(first);
  assert.notEqual(await pidOf(worker), first);
});

test('worker process: a task that takes too long is given up, and the next is done', async (t) => {
  const worker = aProcess(t, { taskMs: 2_000 });
  await assert.rejects(worker.run({ kind: 'wait', ms: 60_000 }), /ended by itself/);
  assert.equal(await worker.run({ kind: 'echo', value: 3 }), 3);
});

test('worker process: those who wait while it crashes do not start one each', async (t) => {
  const diary = join(await tempDir(t), 'diary');
  const worker = aProcess(t, { setup: { diary }, restAfterLossMs: 60_000 });
  const jobs: OddJob[] = [{ kind: 'die' }, ...Array.from({ length: 20 }, (): OddJob => ({ kind: 'who' }))];
  const outcomes = await Promise.allSettled(jobs.map((job) => worker.run(job)));
  for (const outcome of outcomes) {
    assert.equal((outcome as PromiseRejectedResult).reason.name, 'WorkerProcessError');
    assert.equal((outcome as PromiseRejectedResult).reason.reason, 'crashed');
  }
  await assert.rejects(worker.run({ kind: 'who' }), /ended by itself/);
  assert.equal((await readFile(diary, 'utf8')).trim().split('\n').length, 1);
});

test('worker process: after its rest, one that was lost is started again', async (t) => {
  const worker = aProcess(t, { restAfterLossMs: 2_000 });
  await assert.rejects(worker.run({ kind: 'die' }), /ended by itself/);
  await assert.rejects(worker.run({ kind: 'who' }), /ended by itself/);
  await sleep(2_100);
  assert.equal(await worker.run({ kind: 'echo', value: 6 }), 6);
});

test('worker process: a task that fails does not keep others waiting', async (t) => {
  const worker = aProcess(t, { restAfterLossMs: 60_000 });
  await assert.rejects(worker.run({ kind: 'fail' }), /did not work/);
  assert.equal(await worker.run({ kind: 'echo', value: 7 }), 7);
});

test('worker process: one that cannot be opened says why and is ended; the next may be better', async (t) => {
  const folder = await tempDir(t);
  const [obstacle, diary] = [join(folder, 'obstacle'), join(folder, 'diary')];
  await writeFile(obstacle, '');
  const worker = aProcess(t, { setup: { obstacle, diary } });
  await assert.rejects(worker.run({ kind: 'who' }), (error: WorkerProcessError) => {
    assert.deepEqual([error.reason, error.message], ['not opened', 'It cannot be opened.']);
    return true;
  });
  assert.equal(isThere(Number(await readFile(diary, 'utf8'))), false);
  await rm(obstacle);
  assert.equal(await worker.run({ kind: 'echo', value: 8 }), 8);
});

test('worker process: what nobody waits for any more is not begun', async (t) => {
  const worker = aProcess(t);
  const leaving = new AbortController();
  const before = await pidOf(worker);
  const first = worker.run({ kind: 'wait', ms: 100 });
  const second = worker.run({ kind: 'die' }, leaving.signal);
  leaving.abort(new Error('I am off.'));
  await first;
  await assert.rejects(second, /I am off/);
  assert.equal(await pidOf(worker), before);
});

test('worker process: closing waits for one that was just put to rest', async (t) => {
  const worker = aProcess(t);
  const pid = await pidOf(worker);
  worker.rest();
  await worker.close();
  assert.equal(isThere(pid), false);
});

test('worker process: knows where the libraries of its owner are', async (t) => {
  const before = process.env.LD_LIBRARY_PATH;
  process.env.LD_LIBRARY_PATH = before ?? '/nowhere';
  t.after(() => {
    if (before === undefined) delete process.env.LD_LIBRARY_PATH;
  });
  const { environment } = (await aProcess(t).run({ kind: 'who' })) as { environment: string[] };
  assert.ok(environment.includes('LD_LIBRARY_PATH'));
});

test('worker process: what cannot be sent fails by itself', async (t) => {
  const worker = aProcess(t);
  await assert.rejects(worker.run({ kind: 'echo', value: () => {} }), /could not be cloned/);
  assert.equal(await worker.run({ kind: 'echo', value: 4 }), 4);
});

test('worker process: one that cannot be started fails the task, and is tried again for the next', async (t) => {
  const worker = aProcess(t);
  const program = process.execPath;
  process.execPath = '/nowhere/node';
  try {
    await assert.rejects(worker.run({ kind: 'who' }), /ENOENT/);
  } finally {
    process.execPath = program;
  }
  assert.equal(await worker.run({ kind: 'echo', value: 5 }), 5);
});

test('worker process: closed means at once and for good', async (t) => {
  const worker = aProcess(t);
  const pid = await pidOf(worker);
  const outcomes = Promise.allSettled([worker.run({ kind: 'wait', ms: 60_000 }), worker.run({ kind: 'who' })]);
  await worker.close();
  assert.equal(isThere(pid), false);
  assert.deepEqual(
    (await outcomes).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  await assert.rejects(worker.run({ kind: 'who' }), /has been ended/);
  await worker.close();
});

test('worker process: signals that a terminal sends to all are its owner’s affair', {
  skip: process.platform === 'win32' && 'Windows has no such signals',
}, async (t) => {
  const worker = aProcess(t);
  const pid = await pidOf(worker);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.kill(pid, signal);
  assert.equal(await pidOf(worker), pid);
});

for (const [how, args] of [
  ['is killed', []],
  ['comes to its end', ['leave']],
] as const) {
  test(`worker process: ends with its owner, when that ${how}`, async (t) => {
    const owner = spawn(process.execPath, [OWNER, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => owner.kill('SIGKILL'));
    const exited = once(owner, 'exit');
    const [line] = (await once(owner.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    assert.ok(pid > 0);
    if (how === 'is killed') owner.kill('SIGKILL');
    const [code] = await exited;
    assert.equal(code, how === 'is killed' ? null : 0);
    await assertGone(pid);
  });
}

test('worker process: whoever asks one that cannot be opened, and does nothing else, is told', async (t) => {
  const owner = spawn(process.execPath, [OWNER, 'without'], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => owner.kill('SIGKILL'));
  const exited = once(owner, 'exit');
  const said = await Array.fromAsync(owner.stdout);
  assert.deepEqual([Buffer.concat(said).toString(), (await exited)[0]], ['It cannot be opened.\n', 0]);
});
