// Builds the page from web/ into dist/web, from which the hub serves it.
import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const LICENSES = 'licenses.md';
/** By their packages in `@fontsource-variable`. */
const FONTS = { inter: 'Inter', 'jetbrains-mono': 'JetBrains Mono' };

export default defineConfig({
  root: 'web',
  publicDir: false,
  plugins: [finishAssets()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/web',
    emptyOutDir: false,
    target: 'es2023',
    // Inlined files would become data: URLs, which the page's content security policy blocks.
    assetsInlineLimit: 0,
    rolldownOptions: { input: ['web/index.html', 'web/src/docs.tsx'] },
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    license: { fileName: LICENSES },
  },
  // `npx vite` with a running hub: requests for anything but the page and its files go to the hub.
  server: {
    proxy: {
      '^/(?!src/|node_modules/)[a-z]': {
        target: 'http://127.0.0.1:8765',
        bypass: ({ headers, url }) => (url !== '/docs' && headers.accept?.includes('text/html') ? url : undefined),
      },
    },
  },
});

/**
 * Compresses the new files, so that the hub need not do it for each request, and removes the old ones: after the new ones
 * are written, because a hub may be serving the page meanwhile.
 */
function finishAssets(): Plugin {
  return {
    name: 'finish-assets',
    async writeBundle({ dir = '' }, bundle) {
      // Vite lists only scripts.
      for (const [name, title] of Object.entries(FONTS)) {
        const license = await readFile(join('node_modules/@fontsource-variable', name, 'LICENSE'), 'utf8');
        await appendFile(join(dir, LICENSES), `\n## ${title} (OFL-1.1)\n\n${license}`);
      }
      const made = new Set(Object.keys(bundle));
      for (const name of Object.keys(bundle).filter((file) => /\.(?:js|css|html|svg)$/.test(file))) {
        // Read from disk, because other plugins may have changed it after this one.
        await writeFile(join(dir, `${name}.br`), brotliCompressSync(await readFile(join(dir, name))));
        made.add(`${name}.br`);
      }
      for (const name of await readdir(join(dir, 'assets'))) {
        if (!made.has(`assets/${name}`)) await rm(join(dir, 'assets', name));
      }
    },
  };
}
