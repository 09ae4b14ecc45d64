// A parsed index → its entries, by the one reader that knows its layout.
import { HubError } from '../errors.ts';
import { isJsonObject } from '../lib/json.ts';
import { hubIndex } from './index-formats/hub-index.ts';
import type { IndexEntry, IndexPage, IndexReader } from './index-formats/index-reader.ts';
import { mcpRegistry } from './index-formats/mcp-registry.ts';

/** The first that recognises the document reads it. */
const READERS: readonly IndexReader[] = [mcpRegistry, hubIndex];

/** @throws HubError `invalid_manifest` when it is no index. */
export function readIndexDocument(document: unknown, indexUrl: string): IndexPage {
  const reader = READERS.find(({ recognizes }) => recognizes(document));
  if (!reader) throw new HubError('invalid_manifest', noIndex(document));
  const page = reader.read(document, indexUrl);
  return { ...page, entries: eachOnce(page.entries) };
}

function noIndex(document: unknown): string {
  if (!isJsonObject(document)) return 'The index must be an object or an array.';
  const { type, id, version } = document;
  const what = type && id && version ? 'This is a manifest, not an index that lists some' : 'This is no index';
  return `${what}: an index is an array, an object with a list named 'manifests', 'items' or 'entries', or the list 'servers' of an MCP registry.`;
}

/** An address that is listed again is fetched once, at its first place; of manifests in place, the last one counts. */
function eachOnce(entries: Iterable<IndexEntry>): IndexEntry[] {
  const byUrl = new Map<string, IndexEntry>();
  for (const entry of entries) {
    if (entry.manifest !== undefined) byUrl.delete(entry.url);
    else if (byUrl.has(entry.url)) continue;
    byUrl.set(entry.url, entry);
  }
  return [...byUrl.values()];
}
