import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findMatches, queryTerms } from '../../src/search/matches.ts';
import { makeSnippet } from '../../src/search/snippet.ts';

const NOTHING = queryTerms('');
const filler = (words: number) => Array.from({ length: words }, (_, index) => `word${index}`).join(' ');

test('matches: finds words in any case, form and spelling, with their positions', () => {
  const text = 'Reads TABLES out of pdfTableExtractor files; naïve parsing of Überweisungen.';
  const found = findMatches(text, queryTerms('how to parse a table naive uberweisungen'));
  assert.deepEqual(
    found.map(({ start, end, word }) => [text.slice(start, end), word]),
    [
      ['TABLES', 'table'],
      ['pdfTableExtractor', 'table'],
      ['naïve', 'naive'],
      ['parsing', 'parse'],
      ['Überweisungen', 'uberweisungen'],
    ],
  );
});

test('matches: stop words count only when there are no others', () => {
  assert.deepEqual(findMatches('the table of the house', queryTerms('the table')).length, 1);
  assert.deepEqual(findMatches('who is who', queryTerms('who is')).length, 3);
  assert.deepEqual(findMatches('anything', queryTerms('')), []);
});

test('matches: finds words inside text without spaces, next to other scripts', () => {
  const text = '支持PDF文件和数据库查询，データベース';
  const found = (query: string) =>
    findMatches(text, queryTerms(query)).map(({ start, end, word }) => [text.slice(start, end), word]);
  assert.deepEqual(found('数据库'), [['数据库', '数据库']]);
  assert.deepEqual(found('pdf'), [['PDF', 'pdf']]);
  assert.deepEqual(found('データベース'), [['データベース', 'データベース']]);
  assert.deepEqual(found('猫'), []);
});

test('snippet: a short text is shown completely, with single spaces', () => {
  assert.equal(makeSnippet('  Reads\n tables.  ', NOTHING), 'Reads tables.');
  assert.equal(makeSnippet(' \n ', NOTHING), undefined);
});

test('snippet: a long text is cut at a word', () => {
  const snippet = makeSnippet(filler(100), NOTHING) ?? '';
  assert.match(snippet, /^word0 word1 .* word\d+…$/);
  assert.ok(snippet.length > 180 && snippet.length <= 201, String(snippet.length));
});

test('snippet: starts before the first match when the text starts without one', () => {
  const text = `${filler(100)} finds invoices in mails ${filler(100)}`;
  const snippet = makeSnippet(text, queryTerms('invoice')) ?? '';
  assert.match(snippet, /^…word\d+ .*finds invoices in mails .*word\d+…$/);
  assert.ok(snippet.length <= 203);
  assert.match(makeSnippet(text, queryTerms('word3 invoice')) ?? '', /^word0 /);
});

test('snippet: a long text without spaces is shown around the match, or from its start', () => {
  const begins = `数据库${'查询'.repeat(200)}`;
  assert.ok((makeSnippet(begins, queryTerms('数据库')) ?? '').startsWith('数据库查询'));
  const later = `${'查询'.repeat(200)}数据库${'文件'.repeat(200)}`;
  const snippet = makeSnippet(later, queryTerms('数据库')) ?? '';
  assert.match(snippet, /^…查.*数据库文件.*…$/);
  assert.ok(snippet.length > 150 && snippet.length <= 203, String(snippet.length));
  const oneLongWord = `${'y'.repeat(300)} ${filler(20)}`;
  assert.match(makeSnippet(oneLongWord, queryTerms('y'.repeat(300))) ?? '', /^y{200}…$/);
});

test('snippet: the end of a text has no ellipsis', () => {
  assert.match(makeSnippet(`${filler(100)} invoice`, queryTerms('invoice')) ?? '', /^….* invoice$/);
});

test('snippet: is well-formed and of limited length for any text', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 600 }),
    fc.string({ unit: 'binary', maxLength: 600 }),
    fc.constantFrom('😀'.repeat(400), 'x'.repeat(5_000), `${'世界'.repeat(300)}猫`),
  );
  fc.assert(
    fc.property(texts, fc.string({ maxLength: 20 }), (text, query) => {
      const snippet = makeSnippet(text, queryTerms(query));
      if (snippet === undefined) return assert.equal(text.trim(), '');
      assert.ok(snippet.length <= 203, String(snippet.length));
      if (text.isWellFormed()) assert.ok(!snippet.includes('\ufffd') || text.includes('\ufffd'));
      assert.ok(snippet.isWellFormed());
    }),
  );
});
