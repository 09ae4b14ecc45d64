import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVectorIndex } from '../../src/search/vector-index.ts';

const ALL = new Uint8Array(6_000).fill(1);

/** The same numbers every time. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state / 2 ** 31;
  };
}

function unitVector(next: () => number, dimensions: number, near?: Float32Array): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, (_, i) => next() + 20 * (near?.[i] ?? 0));
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

test('vectors: the nearest by signs are nearly all of the truly nearest', () => {
  const next = random(42);
  const centres = Array.from({ length: 50 }, () => unitVector(next, 384));
  const index = createVectorIndex(384);
  for (let slot = 0; slot < 5_000; slot += 1) index.set(slot, unitVector(next, 384, centres[slot % 50]));
  let found = 0;
  for (let round = 0; round < 20; round += 1) {
    const query = unitVector(next, 384, centres[round]);
    const exact = Array.from({ length: 5_000 }, (_, slot) => ({ slot, cosine: index.cosine(slot, query) }))
      .toSorted((a, b) => b.cosine - a.cosine)
      .slice(0, 20)
      .map(({ slot }) => slot);
    const nearest = new Set(index.nearest(query, 400, ALL).map(({ slot }) => slot));
    found += exact.filter((slot) => nearest.has(slot)).length;
  }
  assert.ok(found / 400 >= 0.99, `recall ${found / 400}`);
});

test('vectors: best first, and only what is eligible', () => {
  const index = createVectorIndex(2);
  index.set(0, new Float32Array([1, 0]));
  index.set(1, new Float32Array([0.8, 0.6]));
  index.set(2, new Float32Array([0, 1]));
  const query = new Float32Array([1, 0]);
  assert.deepEqual(
    index.nearest(query, 5, Uint8Array.of(0, 1, 1)).map(({ slot }) => slot),
    [1, 2],
  );
  assert.equal(index.nearest(query, 1, ALL)[0]?.slot, 0);
});

test('vectors: what is removed is not found, and its place can be used again', () => {
  const index = createVectorIndex(2);
  index.set(3, new Float32Array([1, 0]));
  index.remove(3);
  index.remove(3);
  assert.equal(index.size, 0);
  assert.deepEqual(index.nearest(new Float32Array([1, 0]), 5, ALL), []);
  index.set(3, new Float32Array([0, 1]));
  assert.ok(Math.abs(index.cosine(3, new Float32Array([0, 1])) - 1) < 0.001);
});

test('vectors: there is room for any number', () => {
  const index = createVectorIndex(2);
  index.set(5_000, new Float32Array([0, 1]));
  assert.ok(index.has(5_000));
  assert.ok(!index.has(4_999));
  assert.equal(index.nearest(new Float32Array([0, 1]), 1, ALL)[0]?.slot, 5_000);
});

for (const dimensions of [1, 7, 100, 384, 1_000, 3_072]) {
  test(`vectors: cosines and signs are right with ${dimensions} numbers, and stay so while the index grows`, () => {
    const next = random(dimensions);
    const vectors = Array.from({ length: 2_500 }, () => unitVector(next, dimensions));
    const index = createVectorIndex(dimensions);
    for (const [slot, vector] of vectors.entries()) index.set(slot, vector);
    const query = unitVector(next, dimensions);
    const exact = vectors.map((vector) => vector.reduce((sum, value, i) => sum + value * (query[i] as number), 0));
    for (const [slot, cosine] of exact.entries()) {
      assert.ok(Math.abs(index.cosine(slot, query) - cosine) < 0.01, `${index.cosine(slot, query)} is not ${cosine}`);
    }
    const nearest = index.nearest(vectors[77] as Float32Array, 5, ALL).map(({ slot }) => slot);
    assert.ok(dimensions < 100 || nearest[0] === 77);
  });
}
