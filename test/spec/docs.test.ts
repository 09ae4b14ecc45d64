import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { generatedDocs } from '../../scripts/generated-docs.ts';

const ROOT = new URL('../../', import.meta.url);

test('docs: settings, errors and the OpenAPI document match the code (npm run docs)', async () => {
  for (const [path, text] of Object.entries(await generatedDocs())) {
    assert.equal(await readFile(new URL(path, ROOT), 'utf8'), text, `${path} is outdated: npm run docs`);
  }
});

test('docs: generated folders contain nothing else', async () => {
  const generated = Object.keys(await generatedDocs());
  const pages = globSync('docs/{cli,source-tree}/**', { cwd: ROOT }).filter((path) => path.endsWith('.md'));
  assert.ok(pages.length > 10);
  for (const page of pages) assert.ok(generated.includes(page), `${page} is not generated: delete it`);
});

test('sizes: a page has fewer than 250 lines, the README fewer than 200, a folder of code at most 15 files', async () => {
  for (const page of globSync(['README.md', 'docs/**/*.md'], { cwd: ROOT })) {
    const lines = (await readFile(new URL(page, ROOT), 'utf8')).split('\n').length - 1;
    assert.ok(lines < (page === 'README.md' ? 200 : 250), `${page} has ${lines} lines`);
  }
  const code = globSync('{src,web/src,bench,scripts,test*}/**/*.{ts,tsx,mjs,css}', { cwd: ROOT });
  for (const [folder, files] of Map.groupBy(code, dirname))
    assert.ok(files.length <= 15, `${folder} has ${files.length} files`);
});

test('docs: links to files lead somewhere', async () => {
  for (const page of globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT })) {
    const text = await readFile(new URL(page, ROOT), 'utf8');
    for (const [, link = ''] of text.matchAll(/\]\(([^)\s:#]+)(?:#[^)]*)?\)/g))
      assert.ok(existsSync(new URL(link, new URL(page, ROOT))), `${page} links to ${link}`);
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
