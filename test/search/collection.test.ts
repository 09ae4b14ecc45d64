import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entityFromManifest } from '../../src/catalog/entity.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { createCollection } from '../../src/search/collection.ts';
import type { IndexEntry } from '../../src/search/search-index.ts';
import { aManifest } from '../support/builders.ts';
import { ANY } from './search-stage.ts';

function entryOf(manifest: JsonObject): IndexEntry {
  const { facets, ...entity } = entityFromManifest({ document: manifest });
  return { ...entity, facets: JSON.stringify(facets), isRegistered: false };
}

function collectionOf(...manifests: JsonObject[]) {
  const gone: number[] = [];
  const collection = createCollection((text) => gone.push(text));
  const put = (...documents: JsonObject[]) => {
    const entries = documents.map(entryOf);
    const byUid = new Map(entries.map(({ uid }, place) => [uid, documents[place]]));
    const needed = collection.put(entries);
    for (const uid of needed) {
      const manifest = byUid.get(uid);
      if (manifest) collection.describe(uid, JSON.stringify(manifest));
    }
    return needed;
  };
  put(...manifests);
  return { collection, put, gone };
}

const old = aManifest({ version: '1.0.0' });
const newer = aManifest({ version: '2.0.0', description: 'Also reads handwriting.' });

test('collection: all versions of a name are one document, that of the newest', () => {
  const { collection } = collectionOf(old, newer);
  assert.deepEqual(collection.size, { families: 1, entities: 2 });
  assert.equal(collection.words.frequency('handwrit'), 1);
  assert.equal(collection.words.size, 1);
});

test('collection: an older version that comes later needs no new document, a newer one does', () => {
  const { put } = collectionOf(newer);
  assert.deepEqual(put(old), []);
  assert.deepEqual(put(aManifest({ version: '3.0.0' })), ['mcp_server:pdf-tables@3.0.0']);
});

test('collection: when the newest version goes, the next one is needed; with the last the name goes', () => {
  const { collection, gone } = collectionOf(old, newer);
  assert.deepEqual(collection.remove(['mcp_server:pdf-tables@2.0.0']), ['mcp_server:pdf-tables@1.0.0']);
  collection.describe('mcp_server:pdf-tables@1.0.0', JSON.stringify(old));
  assert.equal(collection.names.find('pdf tables').size, 1);
  assert.deepEqual(collection.remove(['mcp_server:pdf-tables@1.0.0', 'mcp_server:unknown@1']), []);
  assert.deepEqual(collection.size, { families: 0, entities: 0 });
  assert.equal(collection.names.find('pdf tables').size, 0);
  assert.equal(gone.length, 2);
});

test('collection: a manifest that is not the newest any more is passed over; one that cannot be read leaves the name', () => {
  const { collection } = collectionOf(newer);
  const version = collection.version;
  collection.describe('mcp_server:pdf-tables@1.0.0', JSON.stringify(old));
  assert.equal(collection.version, version);
  collection.describe('mcp_server:pdf-tables@2.0.0', 'no manifest at all');
  assert.equal(collection.words.frequency('handwrit'), 1, 'swept out later');
  assert.equal([...collection.names.find('io.example.docs/pdf-tables').values()][0], 'whole');
});

test('collection: families with the same text share it', () => {
  const { collection } = collectionOf(old, aManifest({ type: 'tool' }));
  assert.equal(collection.texts.size, 1);
  assert.equal(collection.size.families, 2);
});

test('collection: an entity that changes its name moves to another family', () => {
  const { collection, put } = collectionOf(old);
  put(aManifest({ name: 'io.example.docs/renamed' }));
  assert.equal(collection.size.families, 1);
  assert.equal(collection.names.find('io.example.docs/pdf-tables').size, 0);
  assert.equal(collection.names.find('io.example.docs/renamed').size, 1);
});

test('collection: the newest version that meets the filters is chosen', () => {
  const { collection } = collectionOf(old, aManifest({ version: '2.0.0', lifecycle: { status: 'disabled' } }));
  const chosen = (filters: typeof ANY) => collection.choose(filters).members.flatMap((member) => member?.version ?? []);
  assert.deepEqual(chosen(ANY), ['1.0.0']);
  assert.deepEqual(chosen({ ...ANY, includeInactive: true }), ['2.0.0']);
  assert.deepEqual(chosen({ ...ANY, capabilities: ['PDF'] }), ['1.0.0']);
  assert.deepEqual(chosen({ ...ANY, type: 'tool' }), []);
  assert.deepEqual(chosen({ ...ANY, includePending: false }), []);
});

test('collection: only what is retained stays', () => {
  const { collection } = collectionOf(old, newer, aManifest({ id: 'b', name: 'b' }));
  collection.retain(['mcp_server:b@1.0.0']);
  assert.deepEqual(collection.size, { families: 1, entities: 1 });
});

test('collection: what is misspelt or unfinished is never taken for a word that says nothing', () => {
  const { collection } = collectionOf(aManifest({ description: 'These are for whatever is there, in four colours.' }));
  const { vocabulary } = collection;
  assert.deepEqual(vocabulary.similar('fours', 5), [{ term: 'four', likeness: 0.8 }]);
  assert.deepEqual(vocabulary.similar('fore', 5), []);
  assert.deepEqual(vocabulary.startingWith('the', 5), []);
  assert.ok(collection.words.frequency('for') > 0, 'who asks for nothing else still finds it');
});
