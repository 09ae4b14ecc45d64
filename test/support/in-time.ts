// Time limits that adapt to the speed of the machine, so that only slow work exceeds them.

/** What the work below takes on a machine that does nothing else, of the kind that the limits were measured on. */
const USUAL_MS = 50;
const TRIES = 3;

/** For a test of something that does not wait for a thing which takes much longer, or for ever. */
export const SOON = { timeout: 300_000 };

/** Always the same work. */
function yardstickMs(): number {
  const begun = performance.now();
  let sum = 0;
  for (let number = 0; number < 6_000_000; number += 1) sum = (sum * 31 + number) | 0;
  // The value is unused, but the type requires it.
  return sum === 0.5 ? 0 : performance.now() - begun;
}

/** What the work took of the processor: a machine that stands still meanwhile, or does other things, changes nothing. */
export async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** How much of its work a process did in this thread, from 0 to 1: what this thread does holds up everybody. */
export async function mainThreadShare(work: () => Promise<void>): Promise<number> {
  const before = process.threadCpuUsage();
  const allMs = await cpuMs(work);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000 / allMs;
}

/** A limit for this machine, as slow as it is right now. */
function allowedMs(limitMs: number): number {
  return limitMs * Math.max(1, yardstickMs() / USUAL_MS);
}

/**
 * Nothing, or by how much it took too long: longer than the limit each time, also on a machine as slow as this one was right after it.
 * What is quadratic does not get better by being tried again.
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
