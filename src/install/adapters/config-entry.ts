// An entry in the configuration of a client, which others write too.
import type { ClientInput } from '../../catalog/client-config.ts';
import type { JsonObject } from '../../lib/json.ts';

export interface ConfigEntry {
  format: 'json' | 'json with comments' | 'toml';
  /** The member of the file that holds all entries. */
  section: string;
  name: string;
  entry: JsonObject;
  /** Values that the client asks its user for. */
  inputs: readonly ClientInput[];
}

/** What an earlier install made of the entry. */
export interface EarlierEntry {
  name: string;
  /** The member of the file that holds it, when that is known. */
  section?: string | undefined;
  /** As it was written, with its placeholders. */
  written: JsonObject | undefined;
}

export interface MergedConfig {
  text: string;
  /** The name that the entry has in the end. */
  name: string;
  /** Whether a person made another server of it, so that it was left as it is. */
  isTheirs?: boolean;
}

/** The name, or the first one with a number that is free. */
export function freeName(name: string, isFree: (name: string) => boolean): string {
  if (isFree(name)) return name;
  for (let number = 2; ; number += 1) if (isFree(`${name}-${number}`)) return `${name}-${number}`;
}
