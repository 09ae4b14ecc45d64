// How the page is built: from web/ into dist/web, where the hub serves it from.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

export default defineConfig({
  root: 'web',
  publicDir: false,
  plugins: [packAssets(), sweepOldAssets()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/web',
    emptyOutDir: false,
    target: 'es2023',
    // Inlined files would be data: addresses, which the page's own policy refuses.
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
  },
  // `npx vite` beside a running hub: everything that is not a file of the page is asked of the hub.
  server: {
    proxy: {
      '^/(catalog|remotes|ingest|gateways|health|config|metrics|docs|openapi.json)': 'http://127.0.0.1:8765',
    },
  },
});

/** Once and as small as can be, so that the hub has nothing left to do when a browser asks. */
function packAssets(): Plugin {
  return {
    name: 'pack-assets',
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (!/\.(?:js|css)$/.test(file.fileName)) continue;
        const source = brotliCompressSync(file.type === 'chunk' ? file.code : file.source);
        this.emitFile({ type: 'asset', fileName: `${file.fileName}.br`, source });
      }
    },
  };
}

/** After the new ones are written, not before: a hub may be serving the page meanwhile. */
function sweepOldAssets(): Plugin {
  return {
    name: 'sweep-old-assets',
    async writeBundle({ dir = '' }, bundle) {
      for (const name of await readdir(join(dir, 'assets'))) {
        if (!(`assets/${name}` in bundle)) await rm(join(dir, 'assets', name));
      }
    },
  };
}
