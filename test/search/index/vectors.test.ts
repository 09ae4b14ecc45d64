import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVectorBlock, openVectors } from '../../../src/search/index/vectors.ts';

/** A deterministic random generator. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state / 2 ** 31;
  };
}

function unitVector(next: () => number, dimensions: number): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, next);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

for (const dimensions of [1, 7, 100, 384, 1_000, 3_072]) {
  test(`vectors: cosines and signs are correct for ${dimensions} dimensions`, () => {
    const next = random(dimensions);
    const stored = Array.from({ length: 500 }, () => unitVector(next, dimensions));
    const vectors = openVectors(createVectorBlock(dimensions, 600));
    for (const [text, vector] of stored.entries()) vectors.set(text, vector);
    const query = unitVector(next, dimensions);
    const cosines = vectors.cosines([...stored.keys()], query);
    const { distances, histogram } = vectors.compareSigns(query, new Uint8Array(600).fill(1));
    for (const [text, vector] of stored.entries()) {
      const exact = vector.reduce((sum, value, i) => sum + value * (query[i] as number), 0);
      assert.ok(Math.abs((cosines[text] as number) - exact) < 0.01, `${cosines[text]} is not ${exact}`);
      const differing = vector.filter((value, i) => value > 0 !== (query[i] as number) > 0).length;
      assert.equal(distances[text], differing);
    }
    assert.equal(
      histogram.reduce((sum, count) => sum + count, 0),
      500,
    );
  });
}

test('vectors: compares only eligible texts that have a vector', () => {
  const vectors = openVectors(createVectorBlock(2, 3));
  vectors.set(0, Float32Array.of(1, 0));
  vectors.set(1, Float32Array.of(0, 1));
  const { distances } = vectors.compareSigns(Float32Array.of(1, 0), Uint8Array.of(0, 1, 1));
  assert.deepEqual([...distances], [0xffff, 2, 0xffff]);
  assert.deepEqual([vectors.has(1), vectors.has(2)], [true, false]);
});

test('vectors: another thread on the same memory sees new values', () => {
  const block = createVectorBlock(2, 2);
  const [one, other] = [openVectors(block), openVectors(block)];
  one.set(1, Float32Array.of(0, 1));
  assert.ok(other.has(1));
  const copy = openVectors(createVectorBlock(2, 1));
  copy.copy(other, 1, 0);
  assert.equal(copy.cosines([0], Float32Array.of(0, 1))[0], 1);
  copy.copy(other, 0, 0);
  assert.ok(copy.has(0), 'a text without a vector changes nothing');
});
