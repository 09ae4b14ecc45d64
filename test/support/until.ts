// Waits for something to become true, however slow the machine is.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** Only something that never happens takes this long. */
const PATIENCE_MS = 300_000;
/** Checking takes time, so a long wait checks less often. */
const LONGEST_PAUSE_MS = 40;

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const begun = performance.now();
  for (let pause = 4; !(await condition()); pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
    assert.ok(performance.now() - begun < PATIENCE_MS, `never became true: ${condition}`);
    await sleep(pause);
  }
}
