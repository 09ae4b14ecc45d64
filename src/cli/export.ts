// Exports the catalog entity by entity, as JSON lines or as a publishable folder.
import { createHash } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EntitySummary } from '../catalog/contract.ts';
import { ENTITY_TYPES, type EntityType } from '../catalog/uid.ts';
import { HubError, unlessNotFound } from '../errors.ts';
import type { HubOperations } from '../hub/operations.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { OutputError } from './exit-codes.ts';

export interface ExportRequest {
  hub: Pick<HubOperations, 'listCatalog' | 'getManifest'>;
  type: EntityType | undefined;
  onProgress: (done: number, total: number) => void;
  signal: AbortSignal;
}

interface Exported {
  entity: EntitySummary;
  manifestText: string;
}

const PAGE_SIZE = 500;
const MANIFESTS_AT_ONCE = 8;

/** Writes one line per entity. Returns their number. */
export async function exportLines({
  write,
  ...request
}: ExportRequest & { write: (text: string) => void }): Promise<number> {
  let count = 0;
  for await (const { entity, manifestText } of exported(request)) {
    const { id, source_url } = entity;
    // Parsed and serialized again, because a stored manifest may span many lines.
    write(`${JSON.stringify({ id, source_url, manifest: JSON.parse(manifestText) })}\n`);
    count += 1;
  }
  return count;
}

/** Writes the hub's own layout: `index.json`, and manifests in folders next to it. Returns the number of entities. @throws HubError */
export async function exportIndex({ folder, ...request }: ExportRequest & { folder: string }): Promise<number> {
  const paths: string[] = [];
  for await (const { entity, manifestText } of exported(request)) {
    const path = manifestPath(entity);
    await replaceFile(join(folder, path), `${manifestText.trimEnd()}\n`);
    paths.push(path);
  }
  // Written last, so that the index never lists a missing file.
  await replaceFile(join(folder, 'index.json'), `${JSON.stringify({ manifests: paths }, null, 2)}\n`);
  return paths.length;
}

/** Atomic, because hubs may read a folder that is served, and a full disk must not destroy what it has. */
async function replaceFile(path: string, content: string): Promise<void> {
  const unfinished = `${path}.unfinished`;
  try {
    await makeFolder(dirname(path));
    await writeFile(unfinished, content);
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {});
    throw new OutputError('The export', error);
  }
}

/** Readable, and unique per id even on case-insensitive file systems. */
function manifestPath({ id, type, name, version }: EntitySummary): string {
  const words = `${name}-${version}`.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[-.]+|[-.]+$/g, '');
  const mark = createHash('sha256').update(id).digest('hex').slice(0, 10);
  // The other parts contain only safe characters. This one comes from another hub and becomes part of a path.
  if (!ENTITY_TYPES.includes(type))
    throw new HubError('invalid_manifest', `The hub reports the type '${type}' for '${id}', but no such type exists.`);
  return `manifests/${type}/${mark.slice(0, 2)}/${words.slice(0, 80)}-${mark}.json`;
}

async function* exported(request: ExportRequest): AsyncGenerator<Exported> {
  for await (const page of entities(request)) {
    for (let first = 0; first < page.length; first += MANIFESTS_AT_ONCE) {
      const slice = page.slice(first, first + MANIFESTS_AT_ONCE);
      const read = await Promise.all(slice.map((entity) => withManifest(request.hub, entity)));
      yield* read.filter((each) => each !== undefined);
    }
  }
}

async function withManifest(hub: ExportRequest['hub'], entity: EntitySummary): Promise<Exported | undefined> {
  // The entity may have been removed after it was listed.
  const manifest = await hub.getManifest(entity.id).catch(unlessNotFound);
  return manifest && { entity, manifestText: manifest.text };
}

/** Pages by name, so that concurrent changes shift as few entries as possible; skips duplicates. */
async function* entities({ hub, type, onProgress, signal }: ExportRequest): AsyncGenerator<EntitySummary[]> {
  const seen = new Set<string>();
  for (let offset = 0; ; offset += PAGE_SIZE) {
    signal.throwIfAborted();
    const { items, total } = await hub.listCatalog({ text: '', type, sort: 'name', limit: PAGE_SIZE, offset });
    const unseen = items.filter(({ id }) => !seen.has(id));
    for (const { id } of unseen) seen.add(id);
    yield unseen;
    onProgress(seen.size, total);
    if (items.length < PAGE_SIZE) return;
  }
}
