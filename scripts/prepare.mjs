// Run by `npm ci`: builds the page, and deletes unneeded files of dependencies. Plain JavaScript, because npm may run it on a Node that cannot run TypeScript.
import { fileURLToPath } from 'node:url';
import { pruneDependencies } from './prune-dependencies.mjs';

await pruneDependencies(fileURLToPath(new URL('../node_modules', import.meta.url)), process);
const vite = await import('vite').catch(() => undefined);
if (vite) await vite.build({ logLevel: 'warn' });
else console.log('The page is not built, because vite is not installed: production installs omit it.');
