import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type DescribedEntity, explainFit } from '../../src/search/fit-reason.ts';
import { queryTerms } from '../../src/search/matches.ts';

const ENTITY: DescribedEntity = {
  name: 'io.example.docs/pdf-tables',
  title: 'PDF Tables',
  summary: 'A server for documents.',
  description: 'Runs anywhere. It finds tables in PDF files and returns them as CSV. Also reads mails.',
  facets: { tag: ['ocr'], capability: [] },
};
const BY_MEANING = { byMeaning: true };
const NAMELESS = { ...ENTITY, summary: '', description: '' };

const cases: [string, DescribedEntity, string, string][] = [
  [
    'the sentence with most words of the query',
    ENTITY,
    'get tables out of a pdf',
    'Mentions “tables” and “pdf”: “It finds tables in PDF files and returns them as CSV.”',
  ],
  ['the first of equal sentences', ENTITY, 'server', 'Mentions “server”: “A server for documents.”'],
  ['words of the name or tags', ENTITY, 'OCR', 'Has “ocr” in its name or tags: “A server for documents.”'],
  ['words of the name only', NAMELESS, 'pdf', 'Has “pdf” in its name or tags.'],
  ['meaning', ENTITY, 'spreadsheet', 'Close in meaning: “A server for documents.”'],
  ['meaning without any text', NAMELESS, 'spreadsheet', 'Its name, “PDF Tables”, is close in meaning.'],
];
for (const [name, entity, query, expected] of cases) {
  test(`fit reason: ${name}`, () => assert.equal(explainFit(entity, queryTerms(query), BY_MEANING), expected));
}

test('fit reason: a keyword search says nothing about meaning', () => {
  const reason = (entity: DescribedEntity) => explainFit(entity, queryTerms('spreadsheet'), { byMeaning: false });
  const found = 'Found by similar words, or by words of its tools or publisher';
  assert.equal(reason(ENTITY), `${found}: “A server for documents.”`);
  assert.equal(reason(NAMELESS), `${found}.`);
});

test('fit reason: a long sentence is cut around the match', () => {
  const description = `${'word '.repeat(200)}invoice ${'word '.repeat(200)}.`;
  const reason = explainFit({ ...ENTITY, description }, queryTerms('invoice'), BY_MEANING);
  assert.match(reason, /^Mentions “invoice”: “….*invoice.*…”$/);
  assert.ok(reason.length < 260);
});

test('fit reason: is one short line for any text and query', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'binary', maxLength: 3000 }),
      fc.boolean(),
      (query, text, byMeaning) => {
        const entity = { ...ENTITY, summary: text.toWellFormed(), description: text.toWellFormed() };
        const reason = explainFit(entity, queryTerms(query.toWellFormed()), { byMeaning });
        assert.ok(reason.length > 0 && reason.length < 1_000);
        assert.doesNotMatch(reason, /[\r\n]/);
      },
    ),
  );
});
