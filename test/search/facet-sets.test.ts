import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFacetSets } from '../../src/search/facet-sets.ts';
import { NO_FILTERS } from '../support/search.ts';

const PDF = JSON.stringify({ capability: ['OCR'], tag: ['pdf', 'ocr'] });
const MAIL = JSON.stringify({ tag: ['mail'], provider: ['OpenAI'] });

test('facet sets: equal texts are one set, and the number of one that is not used any more is used again', () => {
  const sets = createFacetSets();
  const pdf = sets.use(PDF);
  assert.equal(sets.use(PDF), pdf);
  sets.release(pdf);
  const mail = sets.use(MAIL);
  assert.notEqual(mail, pdf, 'somebody still uses it');
  sets.release(pdf);
  assert.equal(sets.use(JSON.stringify({ tag: ['other'] })), pdf);
  assert.equal(sets.capacity, 2);
});

test('facet sets: which of them meet filters', () => {
  const sets = createFacetSets();
  const [pdf, mail] = [sets.use(PDF), sets.use(MAIL)];
  assert.equal(sets.meeting(NO_FILTERS), undefined, 'all do');
  const filters = { ...NO_FILTERS, capabilities: ['MAIL', 'unheard-of'], providers: ['openai'] };
  assert.deepEqual(
    [pdf, mail].map((set) => sets.meeting(filters)?.[set]),
    [0, 1],
  );
});

test('facet sets: a value counts once for an entity, whatever its case and wherever it stands', () => {
  const sets = createFacetSets();
  sets.use(PDF);
  sets.use(MAIL);
  assert.deepEqual(sets.count(Uint32Array.of(3, 1)), {
    capability: [
      { value: 'ocr', count: 3 },
      { value: 'pdf', count: 3 },
      { value: 'mail', count: 1 },
    ],
    framework: [],
    provider: [{ value: 'openai', count: 1 }],
    transport: [],
  });
});
