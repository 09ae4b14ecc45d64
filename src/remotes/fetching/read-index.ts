// Reads the entries of a parsed index with the readers that recognize its layout.
import { HubError } from '../../errors.ts';
import { isJsonObject } from '../../lib/json.ts';
import { isAgentCard } from '../../registry/agent-card.ts';
import { isServerJson } from '../../registry/listed-server.ts';
import { hubIndex } from '../index-formats/hub-index.ts';
import type { IndexEntry, IndexPage, IndexReader } from '../index-formats/index-reader.ts';
import { mcpRegistry } from '../index-formats/mcp-registry.ts';

/** Each reader reads its part of a document, in this order, so that manifests override registry entries. */
const READERS: readonly IndexReader[] = [mcpRegistry, hubIndex];

/** @throws HubError `invalid_manifest` if the document is not an index. */
export function readIndexDocument(document: unknown, indexUrl: string): IndexPage {
  const readers = READERS.filter(({ recognizes }) => recognizes(document));
  if (readers.length === 0) return emptyIndex(document);
  const parts = readers.map((reader) => reader.read(document, indexUrl));
  return {
    entries: eachOnce(parts.map(({ entries }) => entries)),
    next: parts.find(({ next }) => next !== undefined)?.next,
    // Changes of one part do not cover the others.
    tellsChanges: parts.every(({ tellsChanges }) => tellsChanges),
    hasList: true,
  };
}

const WHAT_AN_INDEX_IS =
  "an index is an array, an object with a list named 'manifests', 'items' or 'entries', or the list 'servers' of an MCP registry";
/** A note for the report: an index may be empty, but a document without a list is often not an index. */
export const NO_LIST = `This document contains no list, so it was read as an empty index: ${WHAT_AN_INDEX_IS}.`;

/** Accepts an object without any of the keys, or with empty lists. */
function emptyIndex(document: unknown): IndexPage {
  if (!isJsonObject(document)) throw new HubError('invalid_manifest', 'The index must be an object or an array.');
  const keys = READERS.flatMap((reader) => reader.keys).filter((key) => Object.hasOwn(document, key));
  const odd = keys.find((key) => document[key] !== null);
  if (odd) throw noIndex(`This is not an index: '${odd}' is not a list`);
  const { type, id, version } = document;
  if (type && id && version) throw noIndex('This is a manifest, not an index that lists manifests');
  if (isAgentCard(document)) throw noIndex('This is an agent card, not an index that lists cards');
  if (isServerJson(document)) throw noIndex('This is one server of an MCP registry, not an index that lists servers');
  return { entries: [], tellsChanges: false, hasList: keys.length > 0 };
}

function noIndex(what: string): HubError {
  return new HubError('invalid_manifest', `${what}; ${WHAT_AN_INDEX_IS}.`);
}

/** Fetches a repeated address once, at its first position; the last of several inline manifests wins. */
function eachOnce(parts: readonly Iterable<IndexEntry>[]): IndexEntry[] {
  const byUrl = new Map<string, IndexEntry>();
  for (const entries of parts) {
    for (const entry of entries) {
      if (entry.manifest !== undefined) byUrl.delete(entry.url);
      else if (byUrl.has(entry.url)) continue;
      byUrl.set(entry.url, entry);
    }
  }
  return [...byUrl.values()];
}
