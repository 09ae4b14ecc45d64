import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fold, nameKey, STOP_WORDS, stem, wordsOf } from '../../src/search/words.ts';

const splits: [string, string[]][] = [
  ['pdf-table_extractor', ['pdf', 'table', 'extractor']],
  ['io.github.owner/pdf-table', ['io', 'github', 'owner', 'pdf', 'table']],
  ['Café crème', ['cafe', 'creme']],
  ['Straße ＦＵＬＬ', ['strasse', 'full']],
  ['Łódź, Ærø, Đorđe', ['lodz', 'aero', 'dorde']],
  ['支持PDF文件', ['支持', 'pdf', '文件']],
  ['データ', ['デー', 'ータ'].map((pair) => pair.normalize('NFKD').replace(/\p{M}/gu, ''))],
  ['C++ & C#', ['c', 'c']],
  ['東京都', ['東京', '京都']],
  ['поиск документов', ['поиск', 'документов']],
  ['🎉 \u0000 "OR" NEAR(', ['or', 'near']],
];
for (const [text, expected] of splits) {
  test(`words of ${JSON.stringify(text)}: ${expected.join(' ')}`, () => {
    assert.deepEqual(
      wordsOf(text).map((word) => word.text),
      expected,
    );
  });
}

test('words: case splits a word into parts, and the whole word is kept', () => {
  const [word] = wordsOf('pdfTableExtractor');
  assert.deepEqual(word, { text: 'pdftableextractor', term: 'pdftableextractor', parts: ['pdf', 'tabl', 'extractor'] });
  assert.deepEqual(wordsOf('XMLParser')[0]?.parts, ['xml', 'parser']);
  assert.deepEqual(wordsOf('plain')[0]?.parts, []);
});

const sameStem: [string, string][] = [
  ['tables', 'table'],
  ['parsing', 'parse'],
  ['parsed', 'parse'],
  ['queries', 'query'],
  ['boxes', 'box'],
  ['running', 'run'],
  ['images', 'image'],
  ['APIs', 'api'],
];
for (const [one, other] of sameStem) {
  test(`stem: ${one} and ${other} have the same stem`, () => assert.equal(stem(fold(one)), stem(other)));
}
for (const [one, other] of [
  ['universe', 'university'],
  ['bus', 'bu'],
  ['analysis', 'analysi'],
]) {
  test(`stem: ${one} and ${other} have different stems`, () => assert.notEqual(stem(one ?? ''), stem(other ?? '')));
}

test('stem: short words, numbers and other scripts stay unchanged', () => {
  for (const word of ['ai', 's3', 'h264s', 'документы']) assert.equal(stem(word), word);
});

test('a name is the same with any separators', () => {
  const key = nameKey('io.github.owner/pdf-table');
  for (const other of ['io-github-owner-pdf-table', 'IO GitHub Owner PDF Table', 'io_github_owner_pdf_table']) {
    assert.equal(nameKey(other), key);
  }
});

test('words: any text gives words without spaces, separators or capitals', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      for (const { text: word, term } of wordsOf(text)) {
        assert.ok(word.length > 0 && term.length > 0);
        assert.equal(word, word.toLowerCase());
        assert.doesNotMatch(word, /[\s"'()*:-]/);
      }
    }),
  );
});

test('fold: is idempotent', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => assert.equal(fold(fold(text)), fold(text))),
    {
      examples: [['ÅNGSTRÖM']],
    },
  );
});

test('stop words are single words', () => {
  for (const word of STOP_WORDS) assert.match(word, /^[a-z]+$/);
});
