import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNamed } from '../../../src/search/index/names.ts';
import { readQuery } from '../../../src/search/ranking/query.ts';
import { mostErrorsIn } from '../../../src/search/ranking/query-words.ts';
import { aManifest } from '../../support/builders.ts';
import { snapshotOf } from '../../support/search/lister.ts';
import { familiesFrom } from '../index/families.ts';

function queryOn(descriptions: string[], query: string) {
  const manifests = descriptions.map((description, index) =>
    aManifest({ id: `e${index}`, name: `e${index}`, title: 'x', summary: description, description, tags: [] }),
  );
  return readQuery(query, snapshotOf(familiesFrom(...manifests)));
}

test('query: drops stop words, unless there are no others', () => {
  assert.deepEqual(
    queryOn(['find the rain'], 'what is the rain').terms.map(({ term }) => term),
    ['rain'],
  );
  assert.ok(queryOn(['to be or not to be'], 'to be').wordCount === 2);
});

test('query: the last word may be incomplete; an unknown one may be misspelled or joined', () => {
  const how = (query: string) =>
    queryOn(['parser of weather', 'table extractor'], query).terms.map(({ term, why }) => [term, why]);
  assert.deepEqual(how('rain pars'), [['parser', 'beginning']]);
  assert.deepEqual(how('wether report'), [['weather', 'typing error']]);
  assert.deepEqual(how('tableExtractor now'), [
    ['tabl', 'part'],
    ['extractor', 'part'],
  ]);
});

test('query: a misspelled or incomplete word never counts as a stop word', () => {
  const how = (query: string) =>
    queryOn(['These are for whatever is there, in four colors.'], query).terms.map(({ term }) => term);
  assert.deepEqual(how('fours'), ['four']);
  assert.deepEqual(how('fore'), []);
  assert.deepEqual(how('the'), []);
});

test('query: tolerates two errors in a long word, and none in a short one', () => {
  const how = (query: string) => queryOn(['postgresql table pdf'], query).terms.map(({ term }) => term);
  assert.deepEqual(how('postgrseqll now'), ['postgresql']);
  assert.deepEqual(how('tbaleu now'), []);
  assert.deepEqual(how('pdx now'), []);
});

test('query: one run with separators is a name, a sentence is not', () => {
  for (const name of ['io.github.owner/thing', 'pdf-tables', 'tool:x@1']) assert.ok(queryOn([''], name).isName, name);
  for (const need of ['read a pdf', 'pdf', 'what now?']) assert.ok(!queryOn([''], need).isName, need);
});

test('query: long words may have two typos, short ones and numbers none', () => {
  for (const [word, errors] of [
    ['pdf', 0],
    ['wether', 1],
    ['spreadshet', 2],
    ['2024', 0],
    ['1234567890', 0],
    ['ipv4', 1],
  ] as const)
    assert.equal(mostErrorsIn(word), errors, word);
});

test('names: match in full, in part, and with one typo', () => {
  const manifest = aManifest({
    id: 'mcp.pdf-tables.sse.12ab',
    name: 'io.github.owner/pdf-tables',
    title: 'PDF Reader',
  });
  const [open] = snapshotOf(familiesFrom(manifest)).segments;
  assert.ok(open);
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
  for (const [text, match] of Object.entries(cases))
    assert.equal(findNamed(open.segment, text, { withNear: true }).get(0), match, text);
});
