// Writes the generated documents (`npm run docs`). A test compares the files with the output of the same functions.
import { writeFile } from 'node:fs/promises';
import { generatedDocs } from './generated-docs.ts';

for (const [path, text] of Object.entries(await generatedDocs())) {
  await writeFile(new URL(`../${path}`, import.meta.url), text);
  console.log(`wrote ${path}`);
}
