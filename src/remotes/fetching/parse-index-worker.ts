// Parses an index into entries, on a worker thread unless it is short JSON. An index of 50 MB takes most of a second.
import { DEEPEST_MANIFEST, TOO_DEEP } from '../../catalog/manifest.ts';
import { parseManifestText } from '../../catalog/manifest-text.ts';
import { HubError } from '../../errors.ts';
import { isWithinDepth } from '../../lib/json.ts';
import { jsonDigest } from '../../lib/json-digest.ts';
import { cameThrough, isAnsweredBy } from '../../registry/listed-server.ts';
import type { IndexEntry } from '../index-formats/index-reader.ts';
import { readIndexDocument } from './read-index.ts';

export interface IndexTask {
  bytes: Uint8Array;
  url: string;
  /** The id of the reading hub. */
  hubId?: string;
}

/** An entry as sent to the main thread, which parses each manifest only when it is needed. */
export interface ListedEntry {
  url: string;
  /** JSON text of a manifest inside the index. */
  text?: string;
  /** The digest of the manifest at that address. */
  digest?: string;
  isDeleted?: boolean;
  /** Why the index withdrew the entry. */
  reason?: string;
  /** Why the entry has no manifest. */
  fault?: string;
}

export type IndexAnswer =
  | {
      ok: true;
      /** JSON texts with several entries each: strings cross threads faster than objects, and are parsed one at a time. */
      chunks: string[];
      next?: string;
      tellsChanges: boolean;
      hasList: boolean;
    }
  | { ok: false; error: string };

/** Bounds the time that the main thread needs for a chunk, even if the index contains its manifests. */
const CHUNK = { entries: 250, characters: 250_000 };

export default function readIndex(task: IndexTask): IndexAnswer {
  const { url, hubId } = task;
  if (isPackedFile(task.bytes))
    return {
      ok: false,
      error: 'This is a compressed file: serve it uncompressed, or with the header Content-Encoding.',
    };
  try {
    const text = new TextDecoder().decode(task.bytes);
    // Frees tens of megabytes early.
    task.bytes = new Uint8Array();
    if (text.trim() === '')
      return { ok: false, error: 'The index is empty: there is nothing at this address to read.' };
    if (/^\s*<(?:!doctype|html)/i.test(text))
      return { ok: false, error: 'This is a web page, not an index: use the address of the JSON document itself.' };
    const { document } = parseManifestText(url, text);
    const { entries, ...about } = readIndexDocument(document, url);
    if (hubId && entries.some(({ manifest }) => isAnsweredBy(manifest, hubId))) return { ok: false, error: OWN_ID };
    return { ok: true, chunks: [...chunked(entries, hubId)], ...about };
  } catch (error) {
    if (error instanceof HubError) return { ok: false, error: error.message };
    throw error;
  }
}

/** Entries of such a hub would be skipped as if they came from this one. */
const OWN_ID =
  "The hub at this address has the same id as this one: it is this hub itself, or it was started from a copy of this hub's database. Remove the remote, or give the copy a new id (see Federation in docs/registry.md).";

/** Detects gzip, zstd and zip by their first bytes. */
function isPackedFile(bytes: Uint8Array): boolean {
  return ['1f8b', '28b5', '504b'].includes(Buffer.from(bytes.subarray(0, 2)).toString('hex'));
}

function* chunked(entries: readonly IndexEntry[], hubId?: string): Generator<string> {
  let chunk: string[] = [];
  let characters = 0;
  for (const entry of entries) {
    const text = JSON.stringify(listed(entry, hubId));
    chunk.push(text);
    characters += text.length;
    if (chunk.length < CHUNK.entries && characters < CHUNK.characters) continue;
    yield `[${chunk.join()}]`;
    chunk = [];
    characters = 0;
  }
  if (chunk.length > 0) yield `[${chunk.join()}]`;
}

/** Limit of the database index on addresses; also bounds memory, because all addresses are kept during an ingest. */
const LONGEST_URL = 1000;

function listed({ url, manifest, digest, isDeleted, reason, fault }: IndexEntry, hubId?: string): ListedEntry {
  if (url.length > LONGEST_URL) return tooLong(url);
  if (fault) return { url, fault };
  // Drops entries that another hub got from this one: two hubs that read each other would keep them forever.
  if (isDeleted || (hubId && cameThrough(manifest, hubId))) return { url, isDeleted: true, reason };
  if (manifest === undefined) return digest === undefined ? { url } : { url, digest };
  // Serializing it could exhaust the stack.
  return isWithinDepth(manifest, DEEPEST_MANIFEST) ? { url, text: JSON.stringify(manifest) } : { url, fault: TOO_DEEP };
}

/** Keeps the start, to recognize the address, and a digest, to make it unique. */
function tooLong(url: string): ListedEntry {
  const fault = `has an address of more than ${LONGEST_URL} characters`;
  return { url: `${url.slice(0, LONGEST_URL / 2)}…#${jsonDigest(url)}`, fault };
}
