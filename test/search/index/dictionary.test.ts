import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { editDistance, lettersOf } from '../../../src/lib/typing-errors.ts';
import { Dictionary } from '../../../src/search/index/dictionary.ts';
import { compareByCodePoints, StringsWriter } from '../../../src/search/index/strings.ts';

function dictionaryOf(...terms: string[]) {
  const sorted = [...new Set(terms)].sort(compareByCodePoints);
  const strings = new StringsWriter();
  for (const term of sorted) strings.add(term);
  const { termBytes, termOffsets } = strings.columns('term');
  return new Dictionary(termBytes, termOffsets, Uint32Array.from(sorted, lettersOf));
}

test('dictionary: finds every term, and nothing else', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\uffff', '🎉', '天'), maxLength: 4 });
  fc.assert(
    fc.property(fc.uniqueArray(word), word, (terms, other) => {
      const dictionary = dictionaryOf(...terms);
      for (const term of terms) assert.equal(dictionary.at(dictionary.find(term)), term);
      assert.equal(dictionary.find(other) >= 0, terms.includes(other));
      const [start, end] = dictionary.startingWith(other);
      assert.equal(end - start, terms.filter((term) => term.startsWith(other)).length);
    }),
  );
});

for (const [typed, error] of [
  ['machfve', 'left out'],
  ['machfivve', 'doubled'],
  ['machgive', 'changed'],
  ['mcahfive', 'swapped with the next'],
  ['xmachfive', 'added at the start'],
  ['machfivex', 'added at the end'],
] as const) {
  test(`dictionary: tolerates a letter ${error}`, () => {
    const found = dictionaryOf('weather', 'machfive', 'machine', '\u0001machfive').similar(typed, 1);
    assert.deepEqual(found, [{ term: 'machfive', errors: 1 }]);
  });
}

test('dictionary: finds a word at the end of the alphabet after thousands with the same letters', () => {
  const others = Array.from({ length: 4_000 }, (_, index) => {
    const order = index
      .toString(4)
      .padStart(6, '0')
      .replace(/./g, (digit) => 'abei'[Number(digit)] ?? '');
    return `a${order}zrsfhbi`;
  });
  const found = dictionaryOf(...others, 'zebrafishes').similar('zebrafihses', 2);
  assert.deepEqual(found, [{ term: 'zebrafishes', errors: 1 }]);
});

/** The definition, without limits: optimal string alignment. */
function plainDistance(one: string, other: string): number {
  if (one === '' || other === '') return one.length + other.length;
  const [rest, otherRest] = [one.slice(1), other.slice(1)];
  if (one[0] === other[0]) return plainDistance(rest, otherRest);
  const isSwapped = one[0] === other[1] && one[1] === other[0];
  const further = [plainDistance(rest, otherRest), plainDistance(rest, other), plainDistance(one, otherRest)];
  if (isSwapped) further.push(plainDistance(one.slice(2), other.slice(2)));
  return 1 + Math.min(...further);
}

test('edit distance: is exact up to the limit, and one more beyond it', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 });
  fc.assert(
    fc.property(word, word, fc.integer({ min: 0, max: 3 }), (one, other, most) => {
      assert.equal(editDistance(one, other, most), Math.min(plainDistance(one, other), most + 1));
    }),
  );
});

test('edit distance: is 0 for equal words, and symmetric', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
  fc.assert(
    fc.property(word, word, (one, other) => {
      assert.equal(editDistance(one, one, 2), 0);
      assert.equal(editDistance(one, other, 2), editDistance(other, one, 2));
    }),
  );
});
