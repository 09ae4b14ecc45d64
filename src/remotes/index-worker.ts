// Runs in a worker thread: the text of an index → its entries. An index of 50 MB takes most of a second to parse.
import { parseManifestText } from '../catalog/manifest-text.ts';
import { HubError } from '../errors.ts';
import type { IndexEntry } from './index-formats/index-reader.ts';
import { readIndexDocument } from './read-index.ts';

export interface IndexTask {
  bytes: Uint8Array;
  url: string;
}

export type IndexAnswer =
  | {
      ok: true;
      /** JSON texts of some entries each: texts cross between threads faster than objects, and are parsed one at a time. */
      chunks: string[];
      count: number;
      next?: string;
      tellsChanges: boolean;
    }
  | { ok: false; error: string };

const ENTRIES_PER_CHUNK = 500;

export default function readIndex({ bytes, url }: IndexTask): IndexAnswer {
  try {
    const { document } = parseManifestText(url, new TextDecoder().decode(bytes));
    const { entries, next, tellsChanges = false } = readIndexDocument(document, url);
    return { ok: true, chunks: chunked(entries), count: entries.length, next, tellsChanges };
  } catch (error) {
    if (error instanceof HubError) return { ok: false, error: error.message };
    throw error;
  }
}

function chunked(entries: readonly IndexEntry[]): string[] {
  const chunks: string[] = [];
  for (let start = 0; start < entries.length; start += ENTRIES_PER_CHUNK) {
    chunks.push(JSON.stringify(entries.slice(start, start + ENTRIES_PER_CHUNK)));
  }
  return chunks;
}
