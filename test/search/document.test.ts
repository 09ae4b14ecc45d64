import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentFromManifest, readDocument } from '../../src/search/document.ts';
import { aManifest } from '../support/builders.ts';

test('document: has the name without its host, and the publisher separately', () => {
  const { fields } = documentFromManifest(aManifest({ name: 'io.github.some-owner/pdf-tables' }));
  assert.equal(fields.name, 'pdf-tables');
  assert.equal(fields.publisher, 'some-owner');
  assert.equal(documentFromManifest(aManifest({ name: 'com.example.docs/x' })).fields.publisher, 'example.docs');
  assert.equal(documentFromManifest(aManifest({ name: 'plain' })).fields.name, 'plain');
});

test('document: a summary repeated in the description counts once', () => {
  const repeated = aManifest({ summary: 'Reads tables…', description: 'Reads tables out of PDF files.' });
  assert.equal(documentFromManifest(repeated).fields.summary, '');
  assert.equal(documentFromManifest(aManifest()).fields.summary, 'Reads tables out of PDF files.');
});

test('document: finds tools, resources and prompts wherever manifests list them', () => {
  const { fields } = documentFromManifest(
    aManifest({
      tools: [{ name: 'list_tables', description: 'Lists them.' }, 'other_tool', 7],
      mcp_registration: { tool: { name: 'extract', description: 'Extracts one.' }, prompts: [{ name: 'ask' }] },
    }),
  );
  assert.equal(fields.tools, 'list_tables Lists them. other_tool extract Extracts one. ask');
  assert.equal(documentFromManifest(aManifest({ tools: 'a b c' })).fields.tools, 'a b c');
});

test('document: the text for embedding is title and description, as in training', () => {
  const titled = aManifest({ title: 'PDF Tables', summary: 'x', description: 'x and more.' });
  assert.equal(documentFromManifest(titled).meaning, 'PDF Tables. x and more.');
  const untitled = aManifest({ title: null, name: 'a/pdf-tables', summary: '', description: 'Reads.' });
  assert.equal(documentFromManifest(untitled).meaning, 'pdf tables. Reads.');
});

test('document: cuts long texts', () => {
  const { fields, meaning } = documentFromManifest(aManifest({ description: 'word '.repeat(100_000) }));
  assert.ok(fields.description.length <= 20_000);
  assert.ok(meaning.length <= 2_000);
});

test('document: a name alone is enough to be found', () => {
  assert.equal(readDocument('io.github.owner/thing', 'not a manifest').fields.name, 'thing');
});
