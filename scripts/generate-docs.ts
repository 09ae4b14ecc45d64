// Writes the generated documents (`npm run docs`). A test compares the files with the output of the same functions.
import { mkdir, writeFile } from 'node:fs/promises';
import { generatedDocs } from './generated-docs.ts';

for (const [path, text] of Object.entries(await generatedDocs())) {
  const file = new URL(`../${path}`, import.meta.url);
  await mkdir(new URL('.', file), { recursive: true });
  await writeFile(file, text);
  console.log(`wrote ${path}`);
}
