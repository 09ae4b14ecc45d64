// The look of the page at /docs: the header, fonts and colors of the hub's own pages, if those are built.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGE_FOLDER } from './web.ts';

/** The theme for the API documentation library, which takes style sheets and scripts as text. */
export function docsLook() {
  const folder = join(PAGE_FOLDER, 'assets');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const style = names.find((name) => /^docs-.*\.css$/.test(name));
  const script = names.find((name) => /^docs-.*\.js$/.test(name));
  return {
    title: 'API · Catalog Hub',
    css: style ? [{ filename: 'hub.css', content: readFileSync(join(folder, style), 'utf8') }] : [],
    js: script ? [{ filename: 'hub.js', content: `import('/assets/${script}');` }] : [],
  };
}
