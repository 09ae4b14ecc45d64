// Time limits that adapt to the speed of the machine, so that only slow work exceeds them.

/** The duration of the work below on an idle machine of the kind that the limits were measured on. */
const USUAL_MS = 50;
const TRIES = 3;

/** For a test of something that must not wait for much longer, or endless, work. */
export const SOON = { timeout: 300_000 };

/** A constant amount of work. */
function yardstickMs(): number {
  const begun = performance.now();
  let sum = 0;
  for (let number = 0; number < 6_000_000; number += 1) sum = (sum * 31 + number) | 0;
  // Uses the sum, so that the loop is not optimized away.
  return sum === 0.5 ? 0 : performance.now() - begun;
}

/** The CPU time of the work, which does not depend on pauses or other processes. */
export async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The share of a process's work done in this thread, from 0 to 1: work in this thread blocks everything. */
export async function mainThreadShare(work: () => Promise<void>): Promise<number> {
  const before = process.threadCpuUsage();
  const allMs = await cpuMs(work);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000 / allMs;
}

/** A limit for this machine at its current speed. */
function allowedMs(limitMs: number): number {
  return limitMs * Math.max(1, yardstickMs() / USUAL_MS);
}

/**
 * Undefined, or by how much the work exceeded the limit on every try, relative to the speed of the machine right after
 * it. Retries do not help quadratic work.
 */
export function tooLong(limitMs: number, measure: () => number): string | undefined {
  const said: string[] = [];
  for (let tries = 0; tries < TRIES; tries += 1) {
    const tookMs = measure();
    if (tookMs <= limitMs) return undefined;
    const mayTakeMs = allowedMs(limitMs);
    if (tookMs <= mayTakeMs) return undefined;
    said.push(`${Math.round(tookMs)} ms of ${Math.round(mayTakeMs)}`);
  }
  return said.join(', ');
}
