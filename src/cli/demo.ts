// The sample catalog that comes with the hub, for `--demo`.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { ManifestSource } from '../catalog/entity.ts';
import { parseManifestText } from '../catalog/manifest-text.ts';
import { readIndexDocument } from '../remotes/fetching/read-index.ts';

/** Next to `src` in a checkout, and next to `dist` in the package. */
const DEMO_INDEX = new URL('../../demo/index.json', import.meta.url).href;

/** Reads the demo like the index of a remote, but from files. */
export async function readDemoCatalog(): Promise<ManifestSource[]> {
  const { document } = await readDocument(DEMO_INDEX);
  const { entries } = readIndexDocument(document, DEMO_INDEX);
  return Promise.all(
    entries.map(({ url, manifest }) => (manifest === undefined ? readDocument(url) : { document: manifest })),
  );
}

async function readDocument(url: string): Promise<{ document: unknown; text?: string }> {
  return parseManifestText(url, await readFile(fileURLToPath(url), 'utf8'));
}
