// How the page is built: from web/ into dist/web, where the hub serves it from.
import { defineConfig } from 'vite';

export default defineConfig({
  root: 'web',
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
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
