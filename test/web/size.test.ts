import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { brotliDecompressSync, gzipSync } from 'node:zlib';

const MOST_FIRST_BYTES = 55_000;
const MOST_OPERATOR_BYTES = 20_000;
const ASSETS = new URL('../../dist/web/assets/', import.meta.url);

test('page: the scripts of the search page stay below 55 kB, those for operators below 20 kB, gzipped', async () => {
  const page = await readFile(new URL('../index.html', ASSETS), 'utf8');
  const first = [...page.matchAll(/"\/assets\/([^"]+\.js)"/g)].map(([, name = '']) => name);
  const others = (await readdir(ASSETS)).filter((name) => name.endsWith('.js') && !first.includes(name));
  assert.ok(first.length > 0, "no script was built: run 'npm run build:page'");
  assert.ok((await gzippedBytes(first)) < MOST_FIRST_BYTES, `${await gzippedBytes(first)} bytes`);
  assert.ok((await gzippedBytes(others)) < MOST_OPERATOR_BYTES, `${await gzippedBytes(others)} bytes`);
});

async function gzippedBytes(names: readonly string[]): Promise<number> {
  const sizes = await Promise.all(names.map(async (name) => gzipSync(await readFile(new URL(name, ASSETS))).length));
  return sizes.reduce((sum, size) => sum + size, 0);
}

test('page: its scripts and style sheets are also built precompressed', async () => {
  const names = (await readdir(ASSETS)).filter((name) => /\.(?:js|css)$/.test(name));
  for (const name of names) {
    const packed = await readFile(new URL(`${name}.br`, ASSETS));
    assert.deepEqual(brotliDecompressSync(packed), await readFile(new URL(name, ASSETS)), name);
  }
});

test('page: nothing is inline, and its style sheet loads nothing from other hosts', async () => {
  const page = await readFile(new URL('../index.html', ASSETS), 'utf8');
  assert.doesNotMatch(page, /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/i);
  assert.doesNotMatch(page, /(?:src|href)="(?:https?:)?\/\//);
  const names = (await readdir(ASSETS)).filter((name) => name.endsWith('.css'));
  for (const name of names)
    assert.doesNotMatch(await readFile(new URL(name, ASSETS), 'utf8'), /url\((?!\/assets\/)|@import/);
});
