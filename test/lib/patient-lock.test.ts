import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patientLock } from '../../src/lib/patient-lock.ts';

test('patient lock: waits longer after each refusal, up to ten seconds', async () => {
  let now = 0;
  const tries: number[] = [];
  const tryLock = patientLock(
    async () => void tries.push(now),
    () => now * 1_000,
  );
  for (; now < 60; now += 1) assert.equal(await tryLock('embedding'), undefined);
  assert.deepEqual(tries, [0, 1, 2, 4, 8, 16, 26, 36, 46, 56]);
});

test('patient lock: after the lock was held, the next try is immediate', async () => {
  let now = 0;
  let isFree = false;
  const tryLock = patientLock(
    async (name) => (isFree ? name : undefined),
    () => now,
  );
  for (; now < 16; now += 1) await tryLock('embedding');
  isFree = true;
  assert.equal(await tryLock('embedding'), 'embedding');
  isFree = false;
  assert.equal(await tryLock('embedding'), undefined);
  isFree = true;
  assert.equal(await tryLock('embedding'), 'embedding');
});
