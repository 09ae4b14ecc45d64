// Configuration files of clients: the entry of an entity is put in or taken out, and everything else stays.
import type { JsonObject } from '../../lib/json.ts';
import { InstallError } from '../errors.ts';
import type { ConfigEntry, ConfigFormat } from './adapter-template.ts';
import { jsonConfig } from './json-config.ts';
import { tomlConfig } from './toml-config.ts';

export function formatOf({ format }: Pick<ConfigEntry, 'format'>): ConfigFormat {
  return format === 'toml' ? tomlConfig : jsonConfig;
}

export interface EntryMerge {
  wanted: ConfigEntry & { inputs: readonly JsonObject[] };
  earlier: ConfigEntry | undefined;
  /** Names of entries in the same file that the lockfile has for other entities. */
  taken: readonly string[];
  /** Whether an entry that a person changed is replaced. */
  isForced: boolean;
}

/**
 * Returns the file and the name that the entry has in the end. `isTheirs` says that a person changed it, so that
 * it was left as it is. @throws RangeError when the file cannot be merged into.
 */
export function mergeEntry(written: string, { wanted, earlier, taken, isForced }: EntryMerge) {
  const { compare, put, upgrade, addInputs = (unchanged) => unchanged } = formatOf(wanted);
  const text = written.replace(/^\uFEFF/, '');
  const stateOf = (name: string, entry = wanted.entry) => compare(text, { ...wanted, name, entry });
  const isLeft = earlier && !taken.includes(earlier.name) && stateOf(earlier.name) !== 'absent';
  const name = isLeft ? earlier.name : freeName(wanted.name, (each) => stateOf(each) !== 'another');
  const state = stateOf(name);
  const before = isLeft ? stateOf(name, earlier.entry) : 'another';
  const isKept = state === 'another' && before === 'another' && !isForced;
  if (state === 'same' || state === 'filled in' || isKept) return { text, name, isTheirs: isKept };
  const isUpgraded = upgrade && isLeft && before === 'filled in';
  const entry = isUpgraded ? upgrade(text, { ...wanted, name }, earlier.entry) : wanted.entry;
  return { text: addInputs(put(text, { ...wanted, name, entry }), wanted.inputs), name, isTheirs: false };
}

function freeName(name: string, isFree: (name: string) => boolean): string {
  if (isFree(name)) return name;
  for (let number = 2; ; number += 1) if (isFree(`${name}-${number}`)) return `${name}-${number}`;
}

/** The error of a file that nothing can be merged into; any other one as it is. */
export function unmergeable(path: string, error: unknown): unknown {
  if (!(error instanceof RangeError)) return error;
  const what = `'${path}' cannot be changed, because ${error.message}`;
  return new InstallError(`${what}. Fix it or move it away, then install again.`, { cause: error });
}
