// Manifest → what is looked through: texts by field for words, and one text for meaning.
import { createHash } from 'node:crypto';
import { readManifest } from '../catalog/manifest.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';

/** The fields that words are looked for in, best first. */
export const FIELDS = [
  'name',
  'title',
  'capabilities',
  'tags',
  'summary',
  'description',
  'tools',
  'publisher',
] as const;
export type Field = (typeof FIELDS)[number];

export interface SearchDocument {
  fields: Record<Field, string>;
  /** What the embedder reads: the form that the embedded models were trained on. */
  meaning: string;
}

export const TEXT_DIGEST_BYTES = 16;

/** What is longer is cut: no field gains by more, and a hostile manifest must not cost minutes. */
const LONGEST_FIELD = 20_000;
const LONGEST_MEANING = 2_000;

/** A manifest that can no longer be read leaves the name to be found by. */
export function readDocument(name: string, manifest: string): SearchDocument {
  try {
    return documentFromManifest(JSON.parse(manifest));
  } catch {
    return nameAlone(name);
  }
}

/** Names a text: equal texts share a vector. */
export function textDigest(text: string): string {
  return createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, 2 * TEXT_DIGEST_BYTES);
}

/** The text that the model reads, if the manifest still has the one of this digest. */
export function textToEmbed(of: { name: string; manifest: string; digest: string }): string | undefined {
  const { meaning } = readDocument(of.name, of.manifest);
  return textDigest(meaning) === of.digest ? meaning : undefined;
}

/** @throws HubError `invalid_manifest` */
export function documentFromManifest(document: unknown): SearchDocument {
  const manifest = readManifest(document);
  const { publisher, ownName } = splitName(manifest.name);
  const title = manifest.title ?? '';
  const { description } = manifest;
  // Most catalogs repeat the description as the summary: counted twice, it would weigh twice.
  const summary = description.startsWith(manifest.summary.replace(/(?:…|\.\.\.)$/, '')) ? '' : manifest.summary;
  const tools = toolTexts(document as JsonObject, manifest.mcpRegistration).filter((text) => text !== description);
  const about = [summary, description].filter(Boolean).join(' ');
  return {
    fields: cutAll({
      name: ownName,
      title,
      capabilities: manifest.capabilities.join(' '),
      tags: manifest.tags.join(' '),
      summary,
      description,
      tools: tools.join(' '),
      publisher,
    }),
    meaning: `${title || ownName.replace(/[-_.\s]+/g, ' ')}. ${about}`.slice(0, LONGEST_MEANING).toWellFormed(),
  };
}

/** Of an entity whose manifest cannot be read any more. */
function nameAlone(name: string): SearchDocument {
  const { publisher, ownName } = splitName(name);
  const nothing = Object.fromEntries(FIELDS.map((field) => [field, ''])) as Record<Field, string>;
  return { fields: { ...nothing, name: ownName, publisher }, meaning: `${ownName}.` };
}

function cutAll(fields: Record<Field, string>): Record<Field, string> {
  return Object.fromEntries(
    Object.entries(fields).map(([field, text]) => [field, text.slice(0, LONGEST_FIELD)]),
  ) as Record<Field, string>;
}

/**
 * `io.github.owner/thing` → `owner` and `thing`. The first label, and the host of many publishers, say nothing about the
 * thing: with them every query about GitHub would find half of the catalog.
 */
function splitName(name: string): { publisher: string; ownName: string } {
  const slash = name.lastIndexOf('/');
  if (slash < 0) return { publisher: '', ownName: name };
  const labels = name
    .slice(0, slash)
    .replace(/^io\.github\./, '')
    .replace(/^[a-z]{2,4}\./, '');
  return { publisher: labels, ownName: name.slice(slash + 1) };
}

/** Names and descriptions of tools, resources and prompts, wherever manifests list them. */
function toolTexts(document: JsonObject, registration: JsonObject | null): string[] {
  const lists = [
    document.tools,
    registration?.tools,
    registration?.tool,
    registration?.resources,
    registration?.prompts,
  ];
  return lists.flatMap((list) => (Array.isArray(list) ? list : [list])).flatMap(partTexts);
}

function partTexts(part: unknown): string[] {
  if (typeof part === 'string') return [part];
  if (!isJsonObject(part)) return [];
  return [part.name, part.title, part.description].filter((text) => typeof text === 'string');
}
