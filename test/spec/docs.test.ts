import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { generatedDocs } from '../../scripts/generated-docs.ts';

const ROOT = new URL('../../', import.meta.url);

test('docs: settings, errors and the OpenAPI document are those of the code (npm run docs)', async () => {
  for (const [path, text] of Object.entries(await generatedDocs())) {
    assert.equal(await readFile(new URL(path, ROOT), 'utf8'), text, `${path} is out of step: npm run docs`);
  }
});
