// An MCP registry as an index: both generations of its list, paged.
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { type IndexEntry, type IndexReader, placeInIndex, unusableEntry } from './index-reader.ts';
import { manifestFromServer } from './registry-server.ts';

const OFFICIAL_META = 'io.modelcontextprotocol.registry/official';

export const mcpRegistry: IndexReader = {
  format: 'mcp-registry',
  keys: ['servers'],

  /** Registries write an empty list as null. */
  recognizes: (document) => isJsonObject(document) && (Array.isArray(document.servers) || document.servers === null),

  read(document, indexUrl) {
    const { servers, metadata } = document as JsonObject;
    const entries = ((servers ?? []) as unknown[]).map((listed, position) => entryOf(listed, position, indexUrl));
    return { entries, next: nextPage(metadata, indexUrl), tellsChanges: true };
  },
};

/** Newer lists wrap each server and put what the registry knows of it beside; older ones are flat. */
function entryOf(listed: unknown, position: number, indexUrl: string): IndexEntry {
  if (!isJsonObject(listed)) return unusableEntry(indexUrl, { kind: 'server', position });
  const server = isJsonObject(listed.server) ? listed.server : listed;
  const meta = { ...object(server._meta), ...object(listed._meta) };
  const official = object(meta[OFFICIAL_META]);
  const manifest = manifestFromServer(server, official);
  const status = String(official.status ?? server.status ?? 'active').toLowerCase();
  const url = placeInIndex(indexUrl, `${manifest.name}@${manifest.version}`);
  return { url, manifest, isDeleted: status === 'deleted' };
}

function nextPage(metadata: unknown, indexUrl: string): string | undefined {
  const cursor = object(metadata).nextCursor ?? object(metadata).next_cursor;
  // Numbers as well: to pass over one would be to take the first page for the whole list.
  const isThere = typeof cursor === 'string' ? cursor !== '' : typeof cursor === 'number' && cursor > 0;
  if (!isThere) return undefined;
  const next = new URL(indexUrl);
  next.searchParams.set('cursor', String(cursor));
  return next.href;
}

function object(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
