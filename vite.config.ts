// How the page is built: from web/ into dist/web, where the hub serves it from.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

export default defineConfig({
  root: 'web',
  publicDir: false,
  plugins: [finishAssets()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/web',
    emptyOutDir: false,
    target: 'es2023',
    // Inlined files would be data: addresses, which the page's own policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // `npx vite` beside a running hub: everything that is not a file of the page is asked of the hub.
  server: {
    proxy: {
      '^/(catalog|remotes|ingest|gateways|health|config|metrics|docs|openapi.json)': 'http://127.0.0.1:8765',
    },
  },
});

/**
 * Packs the new files as small as can be, so that the hub has nothing left to do when a browser asks, and removes the old
 * ones: after the new ones are written, not before, because a hub may be reading the page meanwhile.
 */
function finishAssets(): Plugin {
  return {
    name: 'finish-assets',
    async writeBundle({ dir = '' }, bundle) {
      const made = new Set(Object.keys(bundle));
      for (const name of Object.keys(bundle).filter((file) => /\.(?:js|css|html|svg)$/.test(file))) {
        // As it was written: other plugins have the last word on what is in it.
        await writeFile(join(dir, `${name}.br`), brotliCompressSync(await readFile(join(dir, name))));
        made.add(`${name}.br`);
      }
      for (const name of await readdir(join(dir, 'assets'))) {
        if (!made.has(`assets/${name}`)) await rm(join(dir, 'assets', name));
      }
    },
  };
}
