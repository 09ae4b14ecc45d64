// The hub's own index layouts: `manifests`, `items` and `entries`, mixed in one object, or a bare array.
import { isJsonObject, type JsonObject, storableText } from '../../lib/json.ts';
import { jsonDigest } from '../../lib/json-digest.ts';
import { isAgentCard } from '../../registry/agent-card.ts';
import { isServerJson, manifestOf } from '../../registry/listed-server.ts';
import { type IndexEntry, type IndexReader, placeInIndex, unusableEntry, usableEntry } from './index-reader.ts';
import { serverEntry } from './mcp-registry.ts';

const KEYS = ['manifests', 'items', 'entries'];

export const hubIndex: IndexReader = {
  keys: KEYS,

  recognizes: (document) => Array.isArray(document) || (isJsonObject(document) && listsOf(document).length > 0),

  read(document, indexUrl) {
    const lists = Array.isArray(document) ? [document] : listsOf(document as JsonObject);
    return { entries: entriesOf(lists, indexUrl), tellsChanges: false };
  },
};

/** In document order: the last manifest of an entity wins. */
function listsOf(document: JsonObject): unknown[][] {
  return Object.entries(document)
    .filter(([key]) => KEYS.includes(key))
    .map(([, list]) => list)
    .filter(Array.isArray);
}

function* entriesOf(lists: readonly unknown[][], indexUrl: string): Generator<IndexEntry> {
  for (const [position, listed] of lists.flat().entries()) {
    const fault = isBareManifest(listed) ? BARE : undefined;
    const label = { kind: 'entry', position } as const;
    yield usableEntry(indexUrl, label, () => entryOf(listed, indexUrl) ?? unusableEntry(indexUrl, label, fault));
  }
}

function entryOf(listed: unknown, indexUrl: string): IndexEntry | undefined {
  if (typeof listed === 'string') return isBlank(listed) ? undefined : at(listed, indexUrl);
  if (!isJsonObject(listed)) return undefined;
  const { manifest, base_url: base } = listed;
  if (isServerJson(manifest)) return serverEntry(manifest, indexUrl);
  if (isJsonObject(manifest)) return inPlace(manifestOf(manifest), indexUrl);
  const reference = [manifest, listed.manifest_url, listed.manifest_path, listed.path].find(
    (each): each is string => typeof each === 'string' && !isBlank(each),
  );
  if (reference === undefined) return foreignEntry(listed, indexUrl);
  const entry = at(reference, typeof base === 'string' ? resolve(base, indexUrl) : indexUrl);
  const digest = digestIn(listed);
  return digest === undefined ? entry : { ...entry, digest };
}

/** Entries without a manifest: registry servers, agent cards, and ARD resources. */
function foreignEntry(listed: JsonObject, indexUrl: string): IndexEntry | undefined {
  if (isServerJson(listed)) return serverEntry(listed, indexUrl);
  return isAgentCard(listed) ? inPlace(manifestOf(listed), indexUrl) : undefined;
}

function inPlace(manifest: JsonObject, indexUrl: string): IndexEntry {
  return { url: placeInIndex(indexUrl, nameOf(manifest)), manifest };
}

/** Reads `digest: "sha256:…"` or `sha256: "…"`, in any case. */
function digestIn({ digest, sha256 }: JsonObject): string | undefined {
  const text = typeof digest === 'string' ? digest : typeof sha256 === 'string' ? `sha256:${sha256}` : '';
  return /^sha256:[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : undefined;
}

const BARE = "is a manifest itself, but a manifest must be under the key 'manifest' of an entry";

/** An entry with type, id and version is probably a manifest, unless it also has the address of one. */
function isBareManifest(listed: unknown): boolean {
  return isJsonObject(listed) && Boolean(listed.type && listed.id && listed.version);
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** Keeps invalid addresses: fetching them fails, so that the catalog's author sees them in the rejections. */
function at(reference: string, base: string): IndexEntry {
  return { url: resolve(reference.trim(), base) };
}

/** Most references are plain paths below the index; parsing them as URLs would take most of the time and memory. */
const PLAIN_PATH = /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*$/;
const FOLDER = /^https?:\/\/[^?#]*\//;

function resolve(reference: string, base: string): string {
  const folder = PLAIN_PATH.test(reference) && FOLDER.exec(base)?.[0];
  if (folder) return `${folder}${reference}`;
  return URL.parse(reference, base)?.href ?? storableText(reference);
}

function nameOf({ type, id, version }: JsonObject): string {
  const parts = [type, id, version];
  return parts.every((part) => typeof part === 'string') ? parts.join('/') : jsonDigest(parts);
}
