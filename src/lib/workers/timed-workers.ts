// Pools of worker threads with a time limit per task: for untrusted text, which can be crafted to take forever.
import pLimit from 'p-limit';
import { orAborted } from './or-aborted.ts';
import { createWorkerPool, type WorkerPoolOptions } from './workers.ts';

export interface TimedPool<Task, Result> {
  /**
   * The time limit starts when a thread begins the task. Rejects with an error whose message continues a sentence about the
   * input, or with the signal's reason.
   */
  run(task: Task, how: { signal: AbortSignal; transferList?: ArrayBuffer[] }): Promise<Result>;
  destroy(): Promise<void>;
}

export function createTimedPool<Task, Result>(
  options: Omit<WorkerPoolOptions, 'kept'> & { timeoutMs: number },
): TimedPool<Task, Result> {
  const { threads, longestQueue, timeoutMs } = options;
  const pool = createWorkerPool<Task, Result>({ ...options, kept: 0 });
  // Tasks are queued here, not in the pool: after ending a thread, a pool starts no other for its own queue.
  const turns = pLimit(threads);

  async function onThread(task: Task, { signal, transferList }: { signal: AbortSignal; transferList?: ArrayBuffer[] }) {
    signal.throwIfAborted();
    const limit = AbortSignal.timeout(timeoutMs);
    try {
      return await pool.run(task, { signal: AbortSignal.any([signal, limit]), transferList });
    } catch (cause) {
      signal.throwIfAborted();
      throw new Error(limit.aborted ? `took longer than ${timeoutMs / 1000} s to read` : 'is too large to read', {
        cause,
      });
    }
  }

  return {
    async run(task, how) {
      if (turns.pendingCount >= longestQueue)
        throw new Error('was not read: too many documents are waiting to be read');
      return orAborted(
        turns(() => onThread(task, how)),
        how.signal,
      );
    },
    destroy: () => pool.destroy(),
  };
}
