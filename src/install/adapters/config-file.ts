// A JSON file that others write too: one entry is put in, everything else stays.
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { jsonDigest } from '../../lib/json-digest.ts';
import type { ConfigEntry } from './adapter-template.ts';

export interface MergedConfig {
  text: string;
  /** The name that the entry has in the end. */
  name: string;
}

/**
 * `known` is the name that an earlier install gave the entry. An entry of that name that somebody else made is left
 * alone: ours then gets another name. @throws RangeError when the file cannot be merged into.
 */
export function mergeEntry(existing: string | undefined, wanted: ConfigEntry, known: string | undefined): MergedConfig {
  const document = existing === undefined ? {} : readDocument(existing);
  const section = document[wanted.section] ?? {};
  if (!isJsonObject(section)) throw new RangeError(`'${wanted.section}' in it is no object`);
  const name = known !== undefined && Object.hasOwn(section, known) ? known : freeName(section, wanted);
  const old = Object.hasOwn(section, name) ? section[name] : undefined;
  const entry = isJsonObject(old) ? keepFilledIn(wanted.entry, old) : wanted.entry;
  if (jsonDigest(old) === jsonDigest(entry) && existing !== undefined) return { text: existing, name };
  const merged = { ...document, [wanted.section]: { ...section, [name]: entry } };
  return { text: `${JSON.stringify(merged, null, indentOf(existing))}\n`, name };
}

function readDocument(text: string): JsonObject {
  let document: unknown;
  try {
    document = text.trim() === '' ? {} : JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new RangeError('it is not plain JSON', { cause: error });
  }
  if (!isJsonObject(document)) throw new RangeError('it is no JSON object');
  return document;
}

function freeName(section: JsonObject, { name, entry }: ConfigEntry): string {
  const isFree = (each: string) => !Object.hasOwn(section, each) || isSameServer(section[each], entry);
  if (isFree(name)) return name;
  for (let number = 2; ; number += 1) if (isFree(`${name}-${number}`)) return `${name}-${number}`;
}

/** The same server, perhaps with a key that somebody has filled in. */
function isSameServer(existing: unknown, entry: JsonObject): boolean {
  if (!isJsonObject(existing)) return false;
  return ['command', 'args', 'url'].every((part) => isFilledIn(entry[part], existing[part]));
}

/** What a person put in the place of a placeholder stays, and so do settings of the client that the hub knows nothing of. */
function keepFilledIn(entry: JsonObject, old: JsonObject): JsonObject {
  const merged: JsonObject = { ...entry };
  for (const [key, value] of Object.entries(old))
    if (!Object.hasOwn(entry, key) && isClientSetting(key)) merged[key] = value;
  for (const part of ['url', 'args'])
    if (isFilledIn(entry[part], old[part]) && entry[part] !== undefined) merged[part] = old[part];
  for (const part of ['env', 'headers']) {
    const [ours, theirs] = [entry[part], old[part]];
    if (!isJsonObject(ours) || !isJsonObject(theirs)) continue;
    const filledIn = Object.entries(ours).map(([name, value]) => [
      name,
      isPlaceholder(value) ? (theirs[name] ?? value) : value,
    ]);
    merged[part] = Object.fromEntries(filledIn);
  }
  return merged;
}

/** What is no part of how a server is reached or started. */
export function isClientSetting(key: string): boolean {
  return !['type', 'command', 'args', 'env', 'url', 'headers'].includes(key);
}

/** The same, but for what stands where `ours` has placeholders. */
export function isFilledIn(ours: unknown, theirs: unknown): boolean {
  if (isJsonObject(ours) && isJsonObject(theirs)) {
    const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
    return [...names].every((name) => isFilledIn(ours[name], theirs[name]));
  }
  if (Array.isArray(ours) && Array.isArray(theirs))
    return ours.length === theirs.length && ours.every((each, index) => isFilledIn(each, theirs[index]));
  if (typeof ours !== 'string' || typeof theirs !== 'string') return jsonDigest(ours) === jsonDigest(theirs);
  const [first = '', ...others] = ours.split(/\$\{[^}]+\}/);
  if (others.length === 0) return ours === theirs;
  if (!theirs.startsWith(first)) return false;
  let end = first.length;
  for (const [index, part] of others.entries()) {
    const isLast = index === others.length - 1;
    const start = isLast ? theirs.length - part.length : theirs.indexOf(part, end);
    if (start < end || !theirs.startsWith(part, start)) return false;
    end = start + part.length;
  }
  return true;
}

function isPlaceholder(value: unknown): boolean {
  return typeof value === 'string' && /^\$\{[^}]+\}$/.test(value);
}

function indentOf(text: string | undefined): string {
  return /^\{\r?\n([ \t]+)/.exec(text ?? '')?.[1] ?? '  ';
}
