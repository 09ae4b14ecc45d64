import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIELDS, type Field } from '../../src/search/document.ts';
import { createLexicalIndex, type LexicalIndex } from '../../src/search/lexical-index.ts';
import { createNames } from '../../src/search/names.ts';
import { readQuery } from '../../src/search/query.ts';
import { createVocabulary } from '../../src/search/vocabulary.ts';

function fields(texts: Partial<Record<Field, string>>): Record<Field, string> {
  return { ...(Object.fromEntries(FIELDS.map((field) => [field, ''])) as Record<Field, string>), ...texts };
}

function ranked(index: LexicalIndex, ...terms: string[]): number[] {
  const weighted = terms.map((term) => ({ term, weight: 1 }));
  const best = index.best(weighted, 10_000, () => true);
  assert.deepEqual(
    index.best(weighted, 10_000, () => true),
    best,
    'one query leaves nothing behind for the next',
  );
  return [...best.keys()].toSorted((a, b) => (best.get(b) as number) - (best.get(a) as number));
}

test('words: a rare word counts more than a frequent one, a title more than tools', () => {
  const index = createLexicalIndex();
  const common = index.add(fields({ description: 'server of rain' }));
  const rare = index.add(fields({ description: 'server of frost' }));
  index.add(fields({ description: 'rain and rain' }));
  assert.deepEqual(ranked(index, 'rain', 'frost')[0], rare);
  assert.ok(index.rarity('frost') > index.rarity('rain'));
  const title = index.add(fields({ title: 'snow' }));
  const tools = index.add(fields({ tools: 'snow' }));
  assert.deepEqual(ranked(index, 'snow'), [title, tools]);
  assert.notEqual(common, title);
});

test('words: what is removed is not found, also when its place is used again', () => {
  const index = createLexicalIndex();
  const slots = Array.from({ length: 3_000 }, (_, place) => index.add(fields({ title: `word${place}` })));
  for (const slot of slots) index.remove(slot);
  assert.equal(index.size, 0);
  assert.deepEqual(ranked(index, 'word7'), []);
  const again = index.add(fields({ title: 'fresh' }));
  assert.deepEqual(ranked(index, 'fresh'), [again]);
  assert.ok(index.capacity <= 3_001);
  assert.deepEqual(ranked(index, `word${again}`), []);
});

test('words: a match says in which fields it is', () => {
  const index = createLexicalIndex();
  const slot = index.add(fields({ name: 'pdf-table', description: 'Reads a PDF.' }));
  assert.deepEqual(index.matchOf('pdf', slot).fields, ['name', 'description']);
  assert.deepEqual(index.matchOf('pdftable', slot).fields, ['name']);
  assert.deepEqual(index.matchOf('absent', slot), { score: 0, fields: [] });
});

function queryOn(texts: string[], query: string) {
  const vocabulary = createVocabulary();
  const index = createLexicalIndex((term) => vocabulary.add(term));
  for (const description of texts) index.add(fields({ description }));
  return readQuery(query, index, vocabulary);
}

test('query: stop words go, unless there is nothing else', () => {
  assert.deepEqual(
    queryOn(['find the rain'], 'what is the rain').terms.map(({ term }) => term),
    ['rain'],
  );
  assert.ok(queryOn(['to be or not to be'], 'to be').wordCount === 2);
});

test('query: the last word may be unfinished, an unknown one misspelt or run together', () => {
  const how = (query: string) =>
    queryOn(['parser of weather', 'table extractor'], query).terms.map(({ term, why }) => [term, why]);
  assert.deepEqual(how('rain pars'), [['parser', 'beginning']]);
  assert.deepEqual(how('wether report'), [['weather', 'typing error']]);
  assert.deepEqual(how('tableExtractor now'), [
    ['tabl', 'part'],
    ['extractor', 'part'],
  ]);
});

test('query: one run with separators reads like a name, a sentence does not', () => {
  for (const name of ['io.github.owner/thing', 'pdf-tables', 'tool:x@1']) assert.ok(queryOn([''], name).isName, name);
  for (const wish of ['read a pdf', 'pdf', 'what now?']) assert.ok(!queryOn([''], wish).isName, wish);
});

test('names: whole, in part, and with one typing error', () => {
  const names = createNames();
  names.describe(1, { name: 'io.github.owner/pdf-tables', ownName: 'pdf-tables', title: 'PDF Reader' });
  names.add(1, 'mcp.pdf-tables.sse.12ab');
  const cases = {
    'IO GitHub owner pdf_tables': 'whole',
    'mcp pdf tables sse 12ab': 'whole',
    'pdf tables': 'part',
    'PDF-reader': 'part',
    'pdf-tabels': 'near',
    pdftable: 'near',
    'xpdf-tables': 'near',
    'io.github.ownr/pdf-tables': 'near',
    'pdf tab': undefined,
  };
  for (const [text, match] of Object.entries(cases)) assert.equal(names.find(text).get(1), match, text);
  names.removeAll(1);
  for (const text of Object.keys(cases)) assert.equal(names.find(text).size, 0, text);
});
