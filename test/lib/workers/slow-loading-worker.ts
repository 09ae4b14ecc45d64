// A thread that loads slowly, and counts when loading starts and ends.
import { workerData } from 'node:worker_threads';

const { counts } = workerData as { counts: Int32Array };
Atomics.add(counts, 0, 1);
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
Atomics.add(counts, 1, 1);

export default function work(): void {}
