// A program of a test that has a process of its own: says which one, and then ends by itself (`leave`), or stays; or says why
// there is none (`without`).
import { setTimeout as sleep } from 'node:timers/promises';
import { createWorkerProcess } from '../../src/lib/worker-process.ts';
import type { OddJob } from './odd-process-worker.ts';

const [how] = process.argv.slice(2);
const worker = createWorkerProcess<OddJob, { pid: number }>({
  module: new URL('./odd-process-worker', import.meta.url),
  importer: import.meta.url,
  idleMs: 60_000,
  taskMs: 60_000,
  heapMb: 24,
  ...(how === 'without' && { setup: { obstacle: import.meta.filename } }),
});
const said = await worker.run({ kind: 'who' }).then(
  ({ pid }) => pid,
  (error: Error) => error.message,
);
process.stdout.write(`${said}\n`);
if (how === undefined) await sleep(60_000);
