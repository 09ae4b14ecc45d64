// Configuration files of clients: the entry of an entity is put in or taken out, and everything else stays.
import type { ClientInput } from '../../catalog/client-config.ts';
import type { ConfigEntry, ConfigFormat, EntryState } from './adapter-template.ts';
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

export interface MergedFile {
  text: string;
  /** The name that the entry has in the end. */
  name: string;
  /** A person made another server of it, so it was left as it is. */
  isTheirs?: boolean;
}

/** An entry that somebody else made is left alone. @throws RangeError when the file cannot be merged into. */
export function mergeEntry(text: string, { wanted, earlier, taken }: EntryMerge): MergedFile {
  const { compare, put, addInputs = (unchanged) => unchanged } = formatOf(wanted);
  const stateOf = (name: string, entry = wanted.entry) => compare(text, { ...wanted, name, entry });
  const isOther = (state: EntryState) => state === 'another';
  const isLeft = earlier && !taken.includes(earlier.name) && stateOf(earlier.name) !== 'absent';
  if (isLeft && isOther(stateOf(earlier.name)) && isOther(stateOf(earlier.name, earlier.entry)))
    return { text, name: earlier.name, isTheirs: true };
  const name = isLeft ? earlier.name : freeName(wanted.name, (each) => !isOther(stateOf(each)));
  const before = isLeft ? earlier.entry : {};
  const merged = put(text, { ...wanted, name }, before);
  return { text: merged === text ? text : addInputs(merged, wanted.inputs), name };
}

function freeName(name: string, isFree: (name: string) => boolean): string {
  if (isFree(name)) return name;
  for (let number = 2; ; number += 1) if (isFree(`${name}-${number}`)) return `${name}-${number}`;
}
