// An MCP registry as an index: both generations of its paged list.
import { asObject, isJsonObject, type JsonObject } from '../../lib/json.ts';
import { isDeletedServer, listedManifest, statusMessage } from '../../registry/listed-server.ts';
import { type IndexEntry, type IndexReader, placeInIndex, unusableEntry, usableEntry } from './index-reader.ts';

export const mcpRegistry: IndexReader = {
  keys: ['servers'],

  /** Registries serialize an empty list as null. */
  recognizes: (document) => isJsonObject(document) && (Array.isArray(document.servers) || document.servers === null),

  read(document, indexUrl) {
    const { servers, metadata } = document as JsonObject;
    const entries = ((servers ?? []) as unknown[]).map((listed, position) => entryOf(listed, position, indexUrl));
    return { entries, next: nextPage(metadata, indexUrl), tellsChanges: true };
  },
};

function entryOf(listed: unknown, position: number, indexUrl: string): IndexEntry {
  const label = { kind: 'server', position } as const;
  if (!isJsonObject(listed)) return unusableEntry(indexUrl, label);
  return usableEntry(indexUrl, label, () => serverEntry(listed, indexUrl));
}

/** Also for servers in other layouts of an index. */
export function serverEntry(listed: JsonObject, indexUrl: string): IndexEntry {
  const manifest = listedManifest(listed);
  const url = placeInIndex(indexUrl, `${manifest.name}@${manifest.version}`);
  const isDeleted = isDeletedServer(listed);
  return { url, manifest, isDeleted, ...(isDeleted && { reason: statusMessage(listed) }) };
}

function nextPage(metadata: unknown, indexUrl: string): string | undefined {
  const cursor = asObject(metadata).nextCursor ?? asObject(metadata).next_cursor;
  // Accepts numbers too, because ignoring a cursor would treat the first page as the full list.
  const isThere = typeof cursor === 'string' ? cursor !== '' : typeof cursor === 'number' && cursor > 0;
  if (!isThere) return undefined;
  const next = new URL(indexUrl);
  next.searchParams.set('cursor', String(cursor));
  return next.href;
}
