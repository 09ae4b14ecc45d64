import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createVocabulary, editDistance } from '../../src/search/vocabulary.ts';

function vocabularyOf(...terms: string[]) {
  const vocabulary = createVocabulary();
  for (const term of terms) vocabulary.add(term);
  return vocabulary;
}

const errors: [string, string][] = [
  ['machfve', 'left out'],
  ['machfivve', 'doubled'],
  ['machgive', 'changed'],
  ['mcahfive', 'swapped'],
  ['xmachfive', 'put before'],
  ['machfivex', 'put after'],
];
for (const [typed, error] of errors) {
  test(`vocabulary: a letter ${error} is forgiven`, () => {
    const [found] = vocabularyOf('weather', 'machfive', 'machine').similar(typed, 3);
    assert.equal(found?.term, 'machfive');
  });
}

test('vocabulary: two errors are forgiven in a long word only', () => {
  const vocabulary = vocabularyOf('postgresql', 'table');
  assert.equal(vocabulary.similar('postgrseqll', 3)[0]?.term, 'postgresql');
  assert.deepEqual(vocabulary.similar('tbale', 3)[0]?.term, 'table');
  assert.deepEqual(vocabulary.similar('tbaleu', 3), []);
});

test('vocabulary: short words have no neighbours', () => {
  assert.deepEqual(vocabularyOf('pdf', 'pda').similar('pdx', 3), []);
});

test('vocabulary: terms by their beginning, without the beginning itself', () => {
  const vocabulary = vocabularyOf('parser', 'parse', 'party', 'pars');
  assert.deepEqual(vocabulary.startingWith('pars', 10).toSorted(), ['parse', 'parser']);
  assert.equal(vocabulary.startingWith('par', 2).length, 2);
  assert.deepEqual(vocabulary.startingWith('zzz', 2), []);
});

test('vocabulary: a term twice is there once', () => {
  assert.deepEqual(vocabularyOf('weather', 'weather').startingWith('wea', 5), ['weather']);
});

test('edit distance: 0 for the same, and the same in both directions', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
  fc.assert(
    fc.property(word, word, (one, other) => {
      assert.equal(editDistance(one, one, 2), 0);
      assert.equal(editDistance(one, other, 2), editDistance(other, one, 2));
    }),
  );
});
