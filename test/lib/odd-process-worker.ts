// Runs in a process of a test: what work can be like.
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export type OddJob =
  | { kind: 'echo'; value: unknown }
  | { kind: 'who' }
  | { kind: 'wait'; ms: number }
  | { kind: 'fail' }
  | { kind: 'die' }
  | { kind: 'fill' };

export interface OddSetup {
  /** A file: while it is there, nothing works. */
  obstacle?: string;
  /** A file that gets a line whenever a process begins. */
  diary?: string;
}

export default function open({ obstacle, diary }: OddSetup = {}) {
  if (diary !== undefined) appendFileSync(diary, `${process.pid}\n`);
  if (obstacle !== undefined && existsSync(obstacle)) throw new Error('It cannot be opened.');
  return work;
}

async function work(job: OddJob): Promise<unknown> {
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
