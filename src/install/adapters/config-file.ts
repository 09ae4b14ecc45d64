// Configuration files of clients: the entry of an entity is put in or taken out, and everything else stays.
import type { ClientInput } from '../../catalog/client-config.ts';
import type { ConfigEntry, ConfigFormat } from './adapter-template.ts';
import { jsonConfig } from './json-config.ts';
import { tomlConfig } from './toml-config.ts';

export function formatOf({ format }: Pick<ConfigEntry, 'format'>): ConfigFormat {
  return format === 'toml' ? tomlConfig : jsonConfig;
}

export interface EntryMerge {
  wanted: ConfigEntry & { inputs: readonly ClientInput[] };
  earlier: ConfigEntry | undefined;
  /** Names of entries in the same section that the lockfile has for other entities. */
  taken: readonly string[];
}

/**
 * Returns the file and the name that the entry has in the end. `isTheirs` says that a person changed it, so that
 * it was left as it is. @throws RangeError when the file cannot be merged into.
 */
export function mergeEntry(text: string, { wanted, earlier, taken }: EntryMerge) {
  const { compare, put, addInputs = (unchanged) => unchanged } = formatOf(wanted);
  const stateOf = (name: string, entry = wanted.entry) => compare(text, { ...wanted, name, entry });
  const isLeft = earlier && !taken.includes(earlier.name) && stateOf(earlier.name) !== 'absent';
  const name = isLeft ? earlier.name : freeName(wanted.name, (each) => stateOf(each) !== 'another');
  const state = stateOf(name);
  const isUntouched = isLeft && stateOf(name, earlier.entry) === 'same';
  if (state === 'same' || (state !== 'absent' && !isUntouched)) return { text, name, isTheirs: state === 'another' };
  return { text: addInputs(put(text, { ...wanted, name }), wanted.inputs), name, isTheirs: false };
}

function freeName(name: string, isFree: (name: string) => boolean): string {
  if (isFree(name)) return name;
  for (let number = 2; ; number += 1) if (isFree(`${name}-${number}`)) return `${name}-${number}`;
}
