// Converts a server of an MCP registry to an index entry with a manifest.
import type { JsonObject } from '../../lib/json.ts';
import { isDeletedServer, listedManifest } from '../../registry/listed-server.ts';
import { type IndexEntry, placeInIndex } from './index-reader.ts';

export function serverEntry(listed: JsonObject, indexUrl: string): IndexEntry {
  const manifest = listedManifest(listed);
  const url = placeInIndex(indexUrl, `${manifest.name}@${manifest.version}`);
  return { url, manifest, isDeleted: isDeletedServer(listed) };
}
