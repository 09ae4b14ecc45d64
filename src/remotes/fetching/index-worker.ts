// Worker thread that parses the text of an index into entries. An index of 50 MB takes most of a second.
import { parseManifestText } from '../../catalog/manifest-text.ts';
import { HubError } from '../../errors.ts';
import { jsonDigest } from '../../lib/json-digest.ts';
import { cameThrough, isAnsweredBy } from '../../registry/listed-server.ts';
import type { IndexEntry } from '../index-formats/index-reader.ts';
import { readIndexDocument } from './read-index.ts';

export interface IndexTask {
  bytes: Uint8Array;
  url: string;
  /** The ID of the hub that reads. */
  hubId?: string;
}

/** An entry as it crosses to the main thread, which parses no manifest before its turn. */
export interface ListedEntry {
  url: string;
  /** The JSON text of a manifest in place. */
  text?: string;
  /** The digest of the manifest at that address. */
  digest?: string;
  isDeleted?: boolean;
  /** Why there is no manifest. */
  fault?: string;
}

export type IndexAnswer =
  | {
      ok: true;
      /** JSON texts of some entries each: texts cross between threads faster than objects, and are parsed one at a time. */
      chunks: string[];
      next?: string;
      tellsChanges: boolean;
      hasList: boolean;
    }
  | { ok: false; error: string };

/** So that the main thread is never busy with one chunk for long, whatever an index holds in place, and what the database knows of one is soon forgotten. */
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
    // Frees tens of megabytes that are no longer needed.
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
    // Nested so deep that it cannot even be written down again.
    if (error instanceof RangeError) return { ok: false, error: 'The index is nested too deeply.' };
    throw error;
  }
}

/** What such a hub lists would be left out as if it came from here. */
const OWN_ID =
  "The hub at this address has the same id as this one: it is this hub itself, or it was started from a copy of this hub's database. Remove the remote, or give the copy a new id (see Federation in docs/registry.md).";

/** gzip, zstd and zip, by their first bytes. */
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

/** Addresses are looked up through an index of the database, which does not take texts of any length, and are all kept meanwhile. */
const LONGEST_URL = 1000;

function listed({ url, manifest, digest, isDeleted, fault }: IndexEntry, hubId?: string): ListedEntry {
  if (url.length > LONGEST_URL) return tooLong(url);
  if (fault) return { url, fault };
  // Skips entries that another hub got from this one: two hubs that read each other would keep them forever.
  if (isDeleted || (hubId && cameThrough(manifest, hubId))) return { url, isDeleted: true };
  if (manifest !== undefined) return { url, text: JSON.stringify(manifest) };
  return digest === undefined ? { url } : { url, digest };
}

/** Its beginning is enough to find it by, and its digest distinguishes it from others. */
function tooLong(url: string): ListedEntry {
  const fault = `has an address of more than ${LONGEST_URL} characters`;
  return { url: `${url.slice(0, LONGEST_URL / 2)}…#${jsonDigest(url)}`, fault };
}
