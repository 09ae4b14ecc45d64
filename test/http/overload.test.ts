import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOverload } from '../../src/http/overload.ts';

test('overload: starts after several slow seconds in a row and ends after a quiet one', () => {
  let at = 0;
  const isOverloaded = createOverload(() => at);
  const seen = [0, 500, 1_900, 2_000, 4_500, 8_000, 9_000, 10_100].map((time) => {
    at = time;
    return isOverloaded();
  });
  assert.deepEqual(seen, [false, false, false, true, true, false, false, true]);
});
