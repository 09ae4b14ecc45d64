// Runs in a process of a test: what work can be like.
import { setTimeout as sleep } from 'node:timers/promises';

export type OddJob =
  | { kind: 'echo'; value: unknown }
  | { kind: 'who' }
  | { kind: 'wait'; ms: number }
  | { kind: 'fail' }
  | { kind: 'die' }
  | { kind: 'fill' };

export default async function work(job: OddJob): Promise<unknown> {
  if (job.kind === 'echo') return job.value;
  if (job.kind === 'wait') await sleep(job.ms);
  if (job.kind === 'fail') throw new Error('It did not work.');
  if (job.kind === 'die') process.abort();
  if (job.kind === 'fill') return fillMemory();
  return { pid: process.pid, environment: Object.keys(process.env) };
}

function fillMemory(): number {
  const kept: object[] = [];
  for (;;) kept.push({ number: kept.length, list: [kept.length] });
}
