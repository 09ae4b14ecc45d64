// The pauses between the attempts of a delivery.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryPauseMs } from '../../src/events/deliveries.ts';

const MINUTE_MS = 60_000;

const cases = [
  { attempts: 0, minutes: 1 },
  { attempts: 1, minutes: 2 },
  { attempts: 5, minutes: 32 },
  { attempts: 6, minutes: 60 },
  { attempts: 30, minutes: 60 },
];
for (const { attempts, minutes } of cases)
  test(`deliveries: retry ${attempts + 1} follows after ${minutes * 0.8} to ${minutes} min`, () => {
    for (const pause of Array.from({ length: 100 }, () => retryPauseMs(attempts) / MINUTE_MS))
      assert.ok(pause >= minutes * 0.8 && pause <= minutes, `${pause} minutes`);
  });
