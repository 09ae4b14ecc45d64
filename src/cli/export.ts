// Exports the catalog entity by entity, as JSON lines or as a folder that can be published.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { EntitySummary } from '../catalog/contract.ts';
import { ENTITY_TYPES, type EntityType } from '../catalog/uid.ts';
import { HubError } from '../errors.ts';
import type { HubOperations } from '../hub-operations.ts';
import { inOrder } from '../lib/workers/in-order.ts';

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
const MOST_WAITING_BYTES = 50_000_000;

/** Into the file, or line by line to `write`. Answers how many. */
export async function exportLines({
  file,
  write,
  ...request
}: ExportRequest & { file: string | undefined; write: (text: string) => void }): Promise<number> {
  let count = 0;
  async function* lines(): AsyncGenerator<string> {
    for await (const { entity, manifestText } of exported(request)) {
      count += 1;
      const { id, source_url } = entity;
      // Read and written again, because a stored manifest may be spread over many lines.
      yield `${JSON.stringify({ id, source_url, manifest: JSON.parse(manifestText) })}\n`;
    }
  }
  if (file === undefined) for await (const line of lines()) write(line);
  else await wholeFile(file, lines());
  return count;
}

/** In the hub's own layout: `index.json` with the paths of manifests beside it. Answers how many. @throws HubError */
export async function exportIndex({ folder, ...request }: ExportRequest & { folder: string }): Promise<number> {
  const paths: string[] = [];
  for await (const { entity, manifestText } of exported(request)) {
    const path = manifestPath(entity);
    await mkdir(join(folder, dirname(path)), { recursive: true });
    await writeFile(join(folder, path), `${manifestText.trimEnd()}\n`);
    paths.push(path);
  }
  // Last: an index never lists what is not there.
  await mkdir(folder, { recursive: true });
  await wholeFile(join(folder, 'index.json'), [`${JSON.stringify({ manifests: paths }, null, 2)}\n`]);
  return paths.length;
}

/** Readable, and different for each id also where capital letters count for nothing. */
function manifestPath({ id, type, name, version }: EntitySummary): string {
  const words = `${name}-${version}`.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[-.]+|[-.]+$/g, '');
  const mark = createHash('sha256').update(id).digest('hex').slice(0, 10);
  // The other parts contain only harmless characters. This one comes from another hub and becomes part of a path.
  if (!ENTITY_TYPES.includes(type))
    throw new HubError('invalid_manifest', `The hub reports the type '${type}' for '${id}', which does not exist.`);
  return `manifests/${type}/${mark.slice(0, 2)}/${words.slice(0, 80)}-${mark}.json`;
}

async function* exported(request: ExportRequest): AsyncGenerator<Exported> {
  const { hub } = request;
  const bounds = {
    atOnce: MANIFESTS_AT_ONCE,
    ahead: MANIFESTS_AT_ONCE * 4,
    weigh: (each: Exported | undefined) => each?.manifestText.length ?? 0,
    mostWeight: MOST_WAITING_BYTES,
    batch: { size: MANIFESTS_AT_ONCE, mostWeight: MOST_WAITING_BYTES, mostMs: 1_000 },
  };
  const manifests = inOrder(entities(request), bounds, async (entity): Promise<Exported | undefined> => {
    try {
      return { entity, manifestText: (await hub.getManifest(entity.id)).text };
    } catch (error) {
      // It was removed after it was listed, so it does not belong to the catalog.
      if (error instanceof HubError && error.code === 'entity_not_found') return undefined;
      throw error;
    }
  });
  for await (const batch of manifests) yield* batch.filter((each) => each !== undefined);
}

/** By name, so that what is added or changed meanwhile moves as little as possible; nothing is told twice. */
async function* entities({ hub, type, onProgress, signal }: ExportRequest): AsyncGenerator<EntitySummary[]> {
  const told = new Set<string>();
  for (let offset = 0; ; offset += PAGE_SIZE) {
    signal.throwIfAborted();
    const { items, total } = await hub.listCatalog({ text: '', type, sort: 'name', limit: PAGE_SIZE, offset });
    const untold = items.filter(({ id }) => !told.has(id));
    for (const { id } of untold) told.add(id);
    yield untold;
    onProgress(told.size, total);
    if (items.length < PAGE_SIZE) return;
  }
}

/** Nobody finds half a file. */
async function wholeFile(file: string, parts: Iterable<string> | AsyncIterable<string>): Promise<void> {
  const unfinished = `${file}.unfinished`;
  await mkdir(dirname(file), { recursive: true });
  try {
    await pipeline(Readable.from(parts), createWriteStream(unfinished));
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}
