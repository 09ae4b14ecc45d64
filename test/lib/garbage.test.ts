import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBufferSweep } from '../../src/lib/garbage.ts';

/** How much the memory of buffers grows while a quarter of a gigabyte passes through, in megabytes. */
async function mostHeld(onBuffer: (buffer: Buffer) => void): Promise<number> {
  const megabytes = () => process.memoryUsage().arrayBuffers / 1_000_000;
  const before = megabytes();
  let most = 0;
  for (let passed = 0; passed < 4_000; passed += 1) {
    onBuffer(Buffer.allocUnsafeSlow(65_536));
    most = Math.max(most, megabytes() - before);
    if (passed % 100 === 0) await new Promise(setImmediate);
  }
  return most;
}

test('garbage: buffers that were passed on do not accumulate', async () => {
  const sweep = createBufferSweep();
  const most = await mostHeld(sweep);
  assert.ok(most < 50, `${most} MB with it, ${await mostHeld(() => {})} MB without`);
});
