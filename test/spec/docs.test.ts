import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { generatedDocs } from '../../scripts/generated-docs.ts';

const ROOT = new URL('../../', import.meta.url);

test('docs: settings, errors and the OpenAPI document match the code (npm run docs)', async () => {
  for (const [path, text] of Object.entries(await generatedDocs())) {
    assert.equal(await readFile(new URL(path, ROOT), 'utf8'), text, `${path} is outdated: npm run docs`);
  }
});

test('docs: every source file named by the pages about the code exists', async () => {
  const files = globSync('{src,web,test,scripts}/**/*.{ts,tsx,mjs}', { cwd: ROOT });
  for (const page of ['ARCHITECTURE', 'walkthroughs', 'storage']) {
    const text = await readFile(new URL(`docs/${page}.md`, ROOT), 'utf8');
    for (const [, path = ''] of text.matchAll(/`([a-z][\w/.-]*\.tsx?)`/g)) {
      if (path === 'index.ts') continue;
      assert.ok(
        files.some((file) => `/${file}`.endsWith(`/${path}`)),
        `docs/${page}.md names ${path}`,
      );
    }
  }
});
