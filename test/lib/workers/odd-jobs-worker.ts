// Worker thread of a test, with tasks of many kinds.
import { isMainThread, workerData } from 'node:worker_threads';

type Task = { kind: 'echo'; value: unknown } | { kind: 'block'; ms: number } | { kind: 'fill' };

export default function work(task: Task): unknown {
  if (task.kind === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, task.ms);
  if (task.kind === 'fill') return fillMemory();
  return { value: 'value' in task ? task.value : undefined, data: workerData, isMainThread };
}

function fillMemory(): number {
  const kept: object[] = [];
  for (;;) kept.push({ number: kept.length, list: [kept.length] });
}
