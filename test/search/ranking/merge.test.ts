import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SEARCH_MODES } from '../../../src/search/contract.ts';
import {
  type Candidate,
  clamp01,
  finalScore,
  isOfNamed,
  isUnrelated,
  weightsFor,
} from '../../../src/search/ranking/merge.ts';

const anyNumber = fc.oneof(fc.double(), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1, 0, 1, 2));
const candidates: fc.Arbitrary<Candidate> = fc.record({
  lexical: anyNumber,
  semantic: fc.option(anyNumber, { nil: undefined }),
  quality: anyNumber,
  recency: anyNumber,
  isDeprecated: fc.boolean(),
  named: fc.constantFrom(undefined, 'near' as const, 'part' as const, 'whole' as const),
});
const queries = fc.record({ isName: fc.boolean(), wordCount: fc.nat(60) });
const weights = fc.tuple(fc.constantFrom(...SEARCH_MODES), queries).map(([mode, query]) => weightsFor(mode, query));
const plain: Candidate = {
  lexical: 0.5,
  semantic: 0.5,
  quality: 0.5,
  recency: 0.5,
  isDeprecated: false,
  named: undefined,
};
const described = weightsFor('hybrid', { isName: false, wordCount: 8 });

test('merge: the score shows whether the query names the candidate', () => {
  fc.assert(
    fc.property(candidates, weights, (candidate, weight) => {
      // At its best, an unnamed candidate reaches a named one, but never exceeds it.
      const score = finalScore(candidate, weight);
      if (candidate.named) assert.ok(isOfNamed(score));
      else assert.ok(!isOfNamed(score) || (candidate.quality >= 1 && candidate.recency >= 1), String(score));
    }),
  );
});

const RELATED: [Pick<Candidate, 'lexical' | 'semantic' | 'named'>, boolean][] = [
  [{ lexical: 0, semantic: 0.19, named: undefined }, false],
  [{ lexical: 0, semantic: 0.2, named: undefined }, true],
  [{ lexical: 0.3, semantic: 0.11, named: undefined }, false],
  [{ lexical: 0.3, semantic: 0.12, named: undefined }, true],
  [{ lexical: 0.5, semantic: 0, named: undefined }, true],
  [{ lexical: 0, semantic: 0, named: 'near' }, true],
  [{ lexical: 0.1, semantic: undefined, named: undefined }, true],
  [{ lexical: 0, semantic: undefined, named: undefined }, false],
];

for (const [match, isRelated] of RELATED)
  test(`merge: ${JSON.stringify(match)} is ${isRelated ? 'a match' : 'unrelated'}`, () =>
    assert.equal(isUnrelated(match), !isRelated));

test('merge: every score is a number within 0..1', () => {
  fc.assert(
    fc.property(candidates, weights, (candidate, weight) => {
      const score = finalScore(candidate, weight);
      assert.ok(score >= 0 && score <= 1, String(score));
    }),
  );
});

test('merge: the same candidate always has the same score', () => {
  fc.assert(
    fc.property(candidates, weights, (candidate, weight) =>
      assert.equal(finalScore(candidate, weight), finalScore({ ...candidate }, weight)),
    ),
  );
});

test('merge: more words or more meaning never lower the score', () => {
  const part = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(candidates, weights, part, part, (candidate, weight, one, other) => {
      const less = Math.min(one, other);
      const more = Math.max(one, other);
      for (const signal of ['lexical', 'semantic'] as const) {
        const lower = finalScore({ ...candidate, [signal]: less }, weight);
        assert.ok(finalScore({ ...candidate, [signal]: more }, weight) >= lower - 1e-12);
      }
    }),
  );
});

test('merge: named candidates come first, the whole name before a part', () => {
  fc.assert(
    fc.property(candidates, candidates, candidates, weights, (one, two, three, weight) => {
      const whole = finalScore({ ...one, named: 'whole' }, weight);
      const part = finalScore({ ...two, named: 'part' }, weight);
      assert.ok(whole >= part);
      assert.ok(part >= finalScore({ ...three, named: undefined }, weight));
    }),
  );
});

test('merge: quality and age decide between equals, never against a clearly better match', () => {
  const better = { ...plain, quality: 1, recency: 1 };
  assert.ok(finalScore(better, described) > finalScore(plain, described));
  const closer = { ...plain, semantic: 0.56, quality: 0, recency: 0 };
  assert.ok(finalScore(closer, described) > finalScore(better, described));
});

test('merge: deprecated entries rank lower', () => {
  assert.ok(finalScore({ ...plain, isDeprecated: true }, described) < finalScore(plain, described));
});

test('merge: words weigh more for a name than a short query, and least for a description', () => {
  const name = weightsFor('hybrid', { isName: true, wordCount: 3 });
  const short = weightsFor('hybrid', { isName: false, wordCount: 3 });
  assert.ok(name.words > short.words);
  assert.ok(short.words > described.words);
});

test('merge: keyword mode ignores meaning, and semantic mode ignores words', () => {
  const words = { ...plain, lexical: 0.9, semantic: 0 };
  const meaning = { ...plain, lexical: 0, semantic: 0.9 };
  const keyword = weightsFor('keyword', { isName: false, wordCount: 3 });
  const semantic = weightsFor('semantic', { isName: false, wordCount: 3 });
  assert.ok(finalScore(words, keyword) > finalScore(meaning, keyword));
  assert.ok(finalScore(meaning, semantic) > finalScore(words, semantic));
});

test('merge: a candidate without a vector is scored by its words', () => {
  const unknown = { ...plain, lexical: 0.6, semantic: undefined };
  assert.ok(finalScore(unknown, described) > finalScore({ ...unknown, semantic: 0 }, described));
});

test('clamp01: limits numbers to 0..1', () => {
  assert.deepEqual([Number.NaN, -3, 0.25, 7].map(clamp01), [0, 0, 0.25, 1]);
});
