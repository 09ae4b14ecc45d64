// Waits for something to become true, however slow the machine is.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** Only something that never happens takes this long. */
const PATIENCE_MS = 60_000;

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const begun = performance.now(); !(await isSo()); await sleep(5))
    assert.ok(performance.now() - begun < PATIENCE_MS, `never became true: ${isSo}`);
}
