import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { brotliDecompressSync, gzipSync } from 'node:zlib';

const MOST_SCRIPT_BYTES = 66_000;
const ASSETS = new URL('../../dist/web/assets/', import.meta.url);

test('page: all its scripts together stay below 66 kB, gzipped', async () => {
  const names = (await readdir(ASSETS)).filter((name) => name.endsWith('.js'));
  assert.ok(names.length > 0, "no script was built: run 'npm run build:page'");
  const sizes = await Promise.all(names.map(async (name) => gzipSync(await readFile(new URL(name, ASSETS))).length));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(total < MOST_SCRIPT_BYTES, `${total} bytes`);
});

test('page: its scripts and style sheets are there packed as well, for browsers to be answered at once', async () => {
  const names = (await readdir(ASSETS)).filter((name) => /\.(?:js|css)$/.test(name));
  for (const name of names) {
    const packed = await readFile(new URL(`${name}.br`, ASSETS));
    assert.deepEqual(brotliDecompressSync(packed), await readFile(new URL(name, ASSETS)), name);
  }
});

test('page: nothing in it is inline, and its style sheet asks nobody else', async () => {
  const page = await readFile(new URL('../index.html', ASSETS), 'utf8');
  assert.doesNotMatch(page, /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/i);
  assert.doesNotMatch(page, /(?:src|href)="(?:https?:)?\/\//);
  const names = (await readdir(ASSETS)).filter((name) => name.endsWith('.css'));
  for (const name of names)
    assert.doesNotMatch(await readFile(new URL(name, ASSETS), 'utf8'), /url\((?!\/assets\/)|@import/);
});
