// A JSON file that others write too: one entry is put in, everything else stays.
import { asObject, isJsonObject, type JsonObject } from '../../lib/json.ts';
import { jsonDigest } from '../../lib/json-digest.ts';
import { type ConfigEntry, type EarlierEntry, freeName, type MergedConfig } from './config-entry.ts';
import { addInputs, type ConfigFormat, changeConfig, own, readConfig, removeInputs } from './config-text.ts';

/**
 * An entry of the same name that somebody else made is left alone: ours then gets another name. `taken` are the names of
 * entries in the same section that the lockfile has for other entities.
 * @throws RangeError when the file cannot be merged into.
 */
export function mergeEntry(
  existing: string | undefined,
  wanted: ConfigEntry,
  earlier: EarlierEntry | undefined,
  taken: readonly string[] = [],
): MergedConfig {
  const text = existing ?? '';
  const format = { allowsComments: wanted.format === 'json with comments' };
  const document = readConfig(text, format);
  const section = document[wanted.section] ?? {};
  if (!isJsonObject(section)) throw new RangeError(`'${wanted.section}' in it is not an object`);
  const mergedWith = (old: unknown) =>
    isJsonObject(old) ? keepFilledIn(wanted.entry, old, earlier?.written ?? {}) : wanted.entry;
  const isUnchanged = (old: unknown) => old !== undefined && jsonDigest(old) === jsonDigest(mergedWith(old));
  // Two entities may have one entry in common, as long as both want the same of it.
  const isOurs = (each: string) =>
    !Object.hasOwn(section, each) ||
    (taken.includes(each)
      ? isUnchanged(section[each])
      : each === earlier?.name || isSameServer(section[each], wanted.entry));
  const isLeft = earlier !== undefined && Object.hasOwn(section, earlier.name) && isOurs(earlier.name);
  const name = isLeft ? earlier.name : freeName(wanted.name, isOurs);
  const old = own(section, name);
  const entry = mergedWith(old);
  if (isUnchanged(old)) return { text, name };
  if (isLeft && isAnotherServer(old, earlier, wanted.entry)) return { text, name, isTheirs: true };
  const merged = changeConfig(text, [wanted.section, name], { before: old, after: entry });
  assertOnly(merged, format, { ...document, [wanted.section]: { ...section, [name]: entry } });
  return { text: addInputs(merged, wanted.inputs), name };
}

/** Takes the entry out that an earlier install put in, unless it is not there, or not as that install wrote it. @throws RangeError */
export function removeEntry(
  existing: string,
  format: ConfigFormat,
  { name, section: ofSection, written }: EarlierEntry,
): { text: string } | 'absent' | 'another' {
  const document = readConfig(existing, format);
  const held = sectionsOf(document, name, ofSection);
  if (held.length === 0) return 'absent';
  const [sectionName, section] = held.find(([, each]) => jsonDigest(each[name]) === jsonDigest(written)) ?? [];
  if (sectionName === undefined) return 'another';
  const { [name]: _gone, ...others } = section ?? {};
  const text = changeConfig(existing, [sectionName, name], { before: written, after: undefined });
  assertOnly(text, format, { ...document, [sectionName]: others });
  return { text: removeInputs(text, written) };
}

/** Settings of the client belong to its user, and so do values in the place of placeholders. */
export function verifyEntry(
  text: string,
  { name, section, written }: EarlierEntry,
  integrity: string,
): 'same' | 'absent' | 'another' {
  const entry = entryIn(text, name, section);
  if (entry === undefined) return 'absent';
  const ours = Object.fromEntries(Object.entries(entry).filter(([key]) => !isClientSetting(key)));
  const isSame = jsonDigest(ours) === integrity || (jsonDigest(written) === integrity && isFilledIn(written, ours));
  return isSame ? 'same' : 'another';
}

function entryIn(text: string, name: string, section: string | undefined): JsonObject | undefined {
  try {
    // Whether the client accepts comments does not matter here.
    const document = readConfig(text, { allowsComments: true });
    return sectionsOf(document, name, section)
      .map(([, each]) => each[name])
      .find(isJsonObject);
  } catch {
    return undefined;
  }
}

/** Those that hold an entry of the name; lockfiles do not say which one it was, but for what wrote it. */
function sectionsOf(document: JsonObject, name: string, section: string | undefined): [string, JsonObject][] {
  return Object.entries(document).filter(
    (each): each is [string, JsonObject] =>
      (section === undefined || each[0] === section) && isJsonObject(each[1]) && Object.hasOwn(each[1], name),
  );
}

/** The last word: what is written must be what was meant, and nothing else. */
function assertOnly(text: string, format: ConfigFormat, meant: JsonObject): void {
  if (jsonDigest(readConfig(text, format)) !== jsonDigest(meant))
    throw new RangeError('it is written in a way that is not understood');
}

/** Neither the one that was written nor the one that is to be. */
function isAnotherServer(old: unknown, { written }: EarlierEntry, entry: JsonObject): boolean {
  return written !== undefined && !isSameServer(old, written) && !isSameServer(old, entry);
}

/** The same server, perhaps with a key that somebody has filled in. */
function isSameServer(existing: unknown, entry: JsonObject): boolean {
  if (!isJsonObject(existing)) return false;
  return ['command', 'args', 'url'].every((part) => isFilledIn(entry[part], existing[part]));
}

/**
 * What a person put in the place of a placeholder stays, and so do variables and headers of their own, and settings of the
 * client that the hub knows nothing of.
 */
function keepFilledIn(entry: JsonObject, old: JsonObject, written: JsonObject): JsonObject {
  const settings = Object.entries(old).filter(([key]) => !Object.hasOwn(entry, key) && isClientSetting(key));
  const merged: JsonObject = { ...entry, ...Object.fromEntries(settings) };
  for (const part of ['command', 'url', 'args'])
    if (isFilledIn(entry[part], old[part]) && entry[part] !== undefined) merged[part] = old[part];
  for (const part of ['env', 'headers']) {
    const [ours, theirs, before] = [entry[part], old[part], written[part]].map(asObject) as [
      JsonObject,
      JsonObject,
      JsonObject,
    ];
    const filledIn = Object.entries(ours).map(([name, value]) => [
      name,
      isPlaceholder(value) ? (own(theirs, name) ?? value) : value,
    ]);
    const added = Object.entries(theirs).filter(
      ([name, value]) => !Object.hasOwn(ours, name) && value !== own(before, name),
    );
    if (entry[part] !== undefined || added.length > 0) merged[part] = Object.fromEntries([...filledIn, ...added]);
  }
  return merged;
}

/** What is no part of how a server is reached or started. */
function isClientSetting(key: string): boolean {
  return !['type', 'command', 'args', 'env', 'url', 'headers'].includes(key);
}

/** The same, but for what stands where `ours` has placeholders. */
export function isFilledIn(ours: unknown, theirs: unknown): boolean {
  if (isJsonObject(ours) && isJsonObject(theirs)) {
    const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
    return [...names].every((name) => isFilledIn(own(ours, name), own(theirs, name)));
  }
  if (Array.isArray(ours) && Array.isArray(theirs))
    return ours.length === theirs.length && ours.every((each, index) => isFilledIn(each, theirs[index]));
  if (typeof ours !== 'string' || typeof theirs !== 'string') return jsonDigest(ours) === jsonDigest(theirs);
  const [first = '', ...others] = ours.split(/\$\{[^{}]+\}/);
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
  return typeof value === 'string' && /^\$\{[^{}]+\}$/.test(value);
}
