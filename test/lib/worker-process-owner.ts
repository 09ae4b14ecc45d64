// A program of a test that has a process of its own: says which one, and then ends by itself (`leave`), or stays.
import { setTimeout as sleep } from 'node:timers/promises';
import { createWorkerProcess } from '../../src/lib/worker-process.ts';
import type { OddJob } from './odd-process-worker.ts';

const worker = createWorkerProcess<OddJob, { pid: number }>({
  module: new URL('./odd-process-worker', import.meta.url),
  importer: import.meta.url,
  idleMs: 60_000,
  taskMs: 60_000,
  heapMb: 24,
});
const { pid } = await worker.run({ kind: 'who' });
process.stdout.write(`${pid}\n`);
if (process.argv[2] !== 'leave') await sleep(60_000);
