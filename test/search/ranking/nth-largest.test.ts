import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nthLargest } from '../../../src/search/ranking/nth-largest.ts';

test('nth largest: agrees with sorting, and is 0 for too few', () => {
  const numbers = fc.array(fc.oneof(fc.float({ noNaN: true }), fc.constantFrom(0, 1, 2)));
  fc.assert(
    fc.property(fc.array(numbers), fc.integer({ min: 1, max: 20 }), (lists, n) => {
      const values = lists.flat();
      const sorted = Float32Array.from(values).sort();
      const expected = values.length <= n ? 0 : (sorted[values.length - n] as number);
      assert.equal(
        nthLargest(
          lists.map((list) => Float32Array.from(list)),
          n,
        ) + 0,
        expected + 0,
      );
    }),
  );
});
