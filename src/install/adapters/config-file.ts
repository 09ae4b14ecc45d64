// Adds or removes the entry of an entity in a client's configuration file, and leaves everything else unchanged.
import { asObject, type JsonObject } from '../../lib/json.ts';
import { isSameJson } from '../../lib/json-digest.ts';
import type { ConfigEntry, ConfigFormat } from './adapter-template.ts';
import { mergeChange, stateOf } from './entry-state.ts';
import { jsonConfig } from './json-config.ts';
import { tomlConfig } from './toml-config.ts';

export function formatOf({ format }: Pick<ConfigEntry, 'format'>): ConfigFormat {
  return format === 'toml' ? tomlConfig : jsonConfig;
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
export function mergeEntry(written: string, { wanted, earlier, taken, isForced }: EntryMerge) {
  const { find, put, addInputs = (unchanged) => unchanged } = formatOf(wanted);
  const text = written.replace(/^\uFEFF/, '');
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
