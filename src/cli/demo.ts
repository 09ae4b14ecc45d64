// The sample catalog that comes with the hub, for `--demo`.
import { readFile } from 'node:fs/promises';
import type { ManifestSource } from '../catalog/entity.ts';
import { parseManifestText } from '../catalog/manifest-text.ts';

/** Beside `src` in a checkout and beside `dist` in the package. */
const DEMO_FOLDER = new URL('../../demo/', import.meta.url);

interface DemoIndex {
  manifests: string[];
  items: ({ manifest_path: string } | { manifest: unknown })[];
  entries: { path: string }[];
}

export async function readDemoCatalog(): Promise<ManifestSource[]> {
  const { manifests, items, entries } = JSON.parse(await readText('index.json')) as DemoIndex;
  const inline = items.flatMap((item) => ('manifest' in item ? [{ document: item.manifest }] : []));
  const listed = items.flatMap((item) => ('manifest_path' in item ? [item.manifest_path] : []));
  const paths = [...manifests, ...listed, ...entries.map(({ path }) => path)];
  const read = paths.map(async (path) => parseManifestText(path, await readText(path)));
  return [...inline, ...(await Promise.all(read))];
}

function readText(path: string): Promise<string> {
  return readFile(new URL(path, DEMO_FOLDER), 'utf8');
}
