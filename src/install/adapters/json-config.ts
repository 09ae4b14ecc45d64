// The JSON configuration of a client: one entry is put in, everything else stays.
import { asObject, isJsonObject, type JsonObject } from '../../lib/json.ts';
import { jsonDigest } from '../../lib/json-digest.ts';
import {
  type ConfigEntry,
  type ConfigFile,
  type EarlierEntry,
  freeName,
  type MergedConfig,
} from './adapter-template.ts';
import { addInputs, type JsonSyntax, readJson, removeInputs, removeMember, setMember } from './json-text.ts';

export const jsonConfig: ConfigFile = { merge, remove, verify };

function merge(
  text: string,
  wanted: ConfigEntry,
  earlier: EarlierEntry | undefined,
  taken: readonly string[],
): MergedConfig {
  const document = readJson(text, syntaxOf(wanted));
  const section = document[wanted.section] ?? {};
  if (!isJsonObject(section)) throw new RangeError(`'${wanted.section}' in it is not an object`);
  const mergedWith = (old: unknown) => (isJsonObject(old) ? keepFilledIn(wanted.entry, old, earlier) : wanted.entry);
  const isUnchanged = (old: unknown) => old !== undefined && isEqual(old, mergedWith(old));
  // Two entities may have one entry in common, as long as both want the same of it.
  const isOurs = (each: string) =>
    !Object.hasOwn(section, each) ||
    (taken.includes(each)
      ? isUnchanged(section[each])
      : each === earlier?.name || isSameServer(section[each], wanted.entry));
  const isLeft = earlier !== undefined && Object.hasOwn(section, earlier.name) && isOurs(earlier.name);
  const name = isLeft ? earlier.name : freeName(wanted.name, isOurs);
  const old = own(section, name);
  if (isUnchanged(old)) return { text, name };
  const isTheirs = isLeft && !isSameServer(old, earlier.entry) && !isSameServer(old, wanted.entry);
  if (isTheirs) return { text, name, isTheirs };
  const value = mergedWith(old);
  const merged = setMember(text, wanted.section, { name, value });
  assertOnly(merged, wanted, { ...document, [wanted.section]: { ...section, [name]: value } });
  return { text: addInputs(merged, wanted.inputs), name };
}

function remove(text: string, earlier: EarlierEntry): { text: string } | 'absent' | 'another' {
  const { section: sectionName, name, entry } = earlier;
  const document = readJson(text, syntaxOf(earlier));
  const section = asObject(document[sectionName]);
  if (!Object.hasOwn(section, name)) return 'absent';
  if (!isEqual(section[name], entry)) return 'another';
  const { [name]: _gone, ...others } = section;
  const removed = removeMember(text, sectionName, name);
  assertOnly(removed, earlier, { ...document, [sectionName]: others });
  return { text: removeInputs(removed, entry) };
}

/** Settings of the client belong to its user, and so do values in the place of placeholders. */
function verify(text: string, earlier: EarlierEntry): 'same' | 'absent' | 'another' {
  const found = own(asObject(readJson(text, syntaxOf(earlier))[earlier.section]), earlier.name);
  if (found === undefined) return 'absent';
  const ours = Object.entries(asObject(found)).filter(([key]) => !isClientSetting(key));
  return isFilledIn(earlier.entry, Object.fromEntries(ours)) ? 'same' : 'another';
}

function syntaxOf({ format }: Pick<ConfigEntry, 'format'>): JsonSyntax {
  return { allowsComments: format === 'json with comments' };
}

/** The last word: what is written must be what was meant, and nothing else. */
function assertOnly(text: string, format: Pick<ConfigEntry, 'format'>, meant: JsonObject): void {
  if (!isEqual(readJson(text, syntaxOf(format)), meant))
    throw new RangeError('it is written in a way that is not understood');
}

function isEqual(one: unknown, other: unknown): boolean {
  return jsonDigest(one) === jsonDigest(other);
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
function keepFilledIn(entry: JsonObject, old: JsonObject, earlier: EarlierEntry | undefined): JsonObject {
  const settings = Object.entries(old).filter(([key]) => !Object.hasOwn(entry, key) && isClientSetting(key));
  const merged: JsonObject = { ...entry, ...Object.fromEntries(settings) };
  for (const part of ['command', 'url', 'args'])
    if (entry[part] !== undefined && isFilledIn(entry[part], old[part])) merged[part] = old[part];
  for (const part of ['env', 'headers']) {
    const [ours, theirs, before] = [asObject(entry[part]), asObject(old[part]), asObject(earlier?.entry[part])];
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

/** What is not part of how a server is reached or started. */
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
  if (typeof ours !== 'string' || typeof theirs !== 'string') return isEqual(ours, theirs);
  // Not one regular expression: a text with many placeholders could take forever.
  const [first = '', ...others] = ours.split(/\$\{[^{}]+\}/);
  const last = others.pop();
  if (last === undefined) return ours === theirs;
  if (!theirs.startsWith(first)) return false;
  let end = first.length;
  for (const part of others) {
    const start = theirs.indexOf(part, end);
    if (start < 0) return false;
    end = start + part.length;
  }
  return theirs.length - last.length >= end && theirs.endsWith(last);
}

function isPlaceholder(value: unknown): boolean {
  return typeof value === 'string' && /^\$\{[^{}]+\}$/.test(value);
}

/** Names are words of strangers: `constructor` is nothing that every object has. */
function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
