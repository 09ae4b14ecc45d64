// Adds or removes the entry of an entity in a client's configuration file, and leaves everything else unchanged.
import { PLACEHOLDER } from '../../catalog/client-config.ts';
import { asObject, isJsonObject, type JsonObject, own } from '../../lib/json.ts';
import { isSameJson } from '../../lib/json-digest.ts';
import type { ConfigEntry, ConfigFormat } from './adapter-template.ts';
import { jsonConfig } from './json-config.ts';
import { tomlConfig } from './toml-config.ts';

/** The methods keep a byte order mark, which some editors write at the start of a file. */
export function formatOf({ format }: Pick<ConfigEntry, 'format'>): Required<ConfigFormat> {
  const { find, put, remove, addInputs = (unchanged) => unchanged } = format === 'toml' ? tomlConfig : jsonConfig;
  const markOf = (text: string) => (text.startsWith('\uFEFF') ? '\uFEFF' : '');
  const plain = (text: string) => text.slice(markOf(text).length);
  return {
    find: (text, place) => find(plain(text), place),
    put: (text, entry) => markOf(text) + put(plain(text), entry),
    remove: (text, entry) => markOf(text) + remove(plain(text), entry),
    addInputs: (text, inputs) => markOf(text) + addInputs(plain(text), inputs),
  };
}

export interface EntryMerge {
  wanted: ConfigEntry & { inputs: readonly JsonObject[] };
  earlier: ConfigEntry | undefined;
  /** Names of entries in the same file that belong to other entities, according to the lockfile. */
  taken: readonly string[];
  /** Whether to replace an entry that a person changed. */
  isForced: boolean;
}

/** Returns the new text and the entry's name, which a person may have changed. @throws RangeError if the file cannot be merged. */
export function mergeEntry(text: string, { wanted, earlier, taken, isForced }: EntryMerge) {
  const { find, put, addInputs } = formatOf(wanted);
  const at = (name: string) => find(text, { ...wanted, name });
  const isLeft = earlier && !taken.includes(earlier.name) && at(earlier.name) !== undefined;
  const name = isLeft ? earlier.name : freeName(wanted.name, (each) => stateOf(at(each), wanted.entry) !== 'another');
  const found = at(name);
  const state = stateOf(found, wanted.entry);
  const before = isLeft ? stateOf(found, earlier.entry) : 'another';
  const isTheirs = state === 'another' && before === 'another';
  if (before === 'another' && (isTheirs ? !isForced : state !== 'absent')) return { text, name, isTheirs };
  const entry = before === 'filled in' ? asObject(mergeChange(wanted.entry, earlier?.entry, found)) : wanted.entry;
  if (isSameJson(entry, found)) return { text, name, isTheirs };
  return { text: addInputs(put(text, { ...wanted, name, entry }), wanted.inputs), name, isTheirs };
}

function freeName(name: string, isFree: (name: string) => boolean): string {
  if (isFree(name)) return name;
  for (let number = 2; ; number += 1) if (isFree(`${name}-${number}`)) return `${name}-${number}`;
}

/** `filled in` means the same server, with values or members that a person or the client added. */
export type EntryState = 'absent' | 'same' | 'filled in' | 'another';

export function stateOf(found: unknown, entry: JsonObject): EntryState {
  if (found === undefined) return 'absent';
  if (isSameJson(found, entry)) return 'same';
  return isSameServer(entry, found) ? 'filled in' : 'another';
}

/** Applies the changes from `earlier` to `ours` to `theirs`, and keeps everything else. */
function mergeChange(ours: unknown, earlier: unknown, theirs: unknown): unknown {
  if (isSameJson(ours, earlier)) return theirs;
  if (!isJsonObject(ours) || !isJsonObject(theirs)) return ours;
  const before = asObject(earlier);
  const kept = Object.entries(theirs).filter(([name]) => !Object.hasOwn(before, name));
  const changed = Object.entries(ours).map(([name, value]) => [
    name,
    mergeChange(value, own(before, name), own(theirs, name)),
  ]);
  return Object.fromEntries([...changed, ...kept]);
}

/** Ignores values of variables and headers, and members that a person added. */
function isSameServer(ours: JsonObject, theirs: unknown): boolean {
  if (!isJsonObject(theirs)) return false;
  return Object.entries(ours).every(([name, value]) => {
    const their = own(theirs, name);
    if (!isJsonObject(value)) return isFilledIn(value, their);
    return isJsonObject(their) && Object.keys(value).every((each) => Object.hasOwn(their, each));
  });
}

const REPLACED = new RegExp(`\\$\\{[^{}]+\\}|${PLACEHOLDER.source}`);

/** Whether the values are equal, except where `ours` has placeholders. */
export function isFilledIn(ours: unknown, theirs: unknown): boolean {
  if (Array.isArray(ours) && Array.isArray(theirs))
    return ours.length === theirs.length && ours.every((each, index) => isFilledIn(each, theirs[index]));
  if (typeof ours !== 'string' || typeof theirs !== 'string') return isSameJson(ours, theirs);
  // A person may have replaced all text from the first variable to the last.
  const [first = '', ...others] = ours.split(REPLACED);
  const last = others.at(-1);
  if (last === undefined) return ours === theirs;
  return theirs.length >= first.length + last.length && theirs.startsWith(first) && theirs.endsWith(last);
}
