// Turns a manifest into a search document: one text per field for keywords, and one text for the embedding.
import { createHash } from 'node:crypto';
import { readManifest } from '../catalog/manifest.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';

/** The searched fields, most important first. */
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
  /** The embedder's input, in the form that the embedded models were trained on. */
  meaning: string;
}

export const TEXT_DIGEST_BYTES = 16;

/** Longer text is cut: more would not improve a field, and a hostile manifest must not take minutes. */
const LONGEST_FIELD = 20_000;
const LONGEST_MEANING = 2_000;

/** A manifest that is no longer readable can still be found by its name. */
export function readDocument(name: string, manifest: string): SearchDocument {
  try {
    return documentFromManifest(JSON.parse(manifest));
  } catch {
    const { publisher, ownName } = splitName(name);
    return { fields: fieldsFrom({ name: ownName, publisher }), meaning: `${ownName}.` };
  }
}

/** Equal texts have the same digest, so they share a vector. */
export function textDigest(text: string): string {
  return createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, 2 * TEXT_DIGEST_BYTES);
}

/** The model's input, if the manifest still contains the text with this digest. */
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
  const summary = ownSummary(manifest.summary, description);
  const tools = toolTexts(document as JsonObject, manifest.mcpRegistration).filter((text) => text !== description);
  const about = [summary, description].filter(Boolean).join(' ');
  return {
    fields: fieldsFrom({
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

/** Most catalogs repeat the beginning of the description as the summary, which would count those words twice. */
export function ownSummary(summary: string, description: string): string {
  return description.startsWith(summary.replace(/(?:…|\.\.\.)$/, '')) ? '' : summary;
}

function fieldsFrom(texts: Partial<Record<Field, string>>): Record<Field, string> {
  const cut = FIELDS.map((field) => [field, (texts[field] ?? '').slice(0, LONGEST_FIELD)]);
  return Object.fromEntries(cut) as Record<Field, string>;
}

/**
 * Splits `io.github.owner/thing` into `owner` and `thing`. The top-level label and the shared host say nothing about the
 * thing: with them, every query about GitHub would match half of the catalog.
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

/** Names and descriptions of tools, resources and prompts, in all the places where manifests list them. */
function toolTexts(document: JsonObject, registration: JsonObject | null): string[] {
  const lists = [document.tools, ...['tools', 'tool', 'resources', 'prompts'].map((part) => registration?.[part])];
  return lists.flatMap((list) => (Array.isArray(list) ? list : [list])).flatMap(partTexts);
}

function partTexts(part: unknown): string[] {
  if (typeof part === 'string') return [part];
  if (!isJsonObject(part)) return [];
  return [part.name, part.title, part.description].filter((text) => typeof text === 'string');
}
