// What a template of glue code is, and an entry in the configuration of a client, which people and other programs write too.
import type { ClientInput, ClientLayout } from '../../catalog/client-config.ts';
import type { Launch } from '../../catalog/launch/launch.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { InstallSubject } from '../subject.ts';

export type Reachable = Exclude<Launch, { kind: 'none' }>;

export interface AdapterRequest {
  subject: InstallSubject;
  params: JsonObject;
  launch: Reachable;
  /** Of the file, relative to the target. */
  path: string;
  targetDir: string;
}

export type Rendered =
  | { kind: 'file'; content: string }
  | ({ kind: 'entry' } & ConfigEntry)
  /** Nothing is written: the user puts it where it belongs. */
  | { kind: 'paste'; note: string };

export interface AdapterTemplate {
  /** Of templates that render an entry: the file that holds it, and the member of the file. */
  entryOf?: Pick<ConfigEntry, 'format' | 'section'>;
  /** A sentence about templates that write nothing into the target. */
  note?: string;
  /** Relative to the target; used when the manifest names none. */
  path(subject: InstallSubject): string;
  render(request: AdapterRequest): Rendered;
  /** For an entity that cannot be reached. Templates without it write nothing then. */
  renderUnreachable?(request: Omit<AdapterRequest, 'launch'>): Rendered;
}

export interface ConfigEntry {
  format: ClientLayout['format'];
  /** The member of the file that holds all entries. */
  section: string;
  name: string;
  entry: JsonObject;
  /** Values that the client asks its user for. */
  inputs: readonly ClientInput[];
}

/** The entry as an earlier install wrote it, with its placeholders. */
export type EarlierEntry = Omit<ConfigEntry, 'inputs'>;

export interface MergedConfig {
  text: string;
  /** The name that the entry has in the end. */
  name: string;
  /** Whether a person made another server of it, so that it was left as it is. */
  isTheirs?: boolean;
}

/** What a format of configuration files can do. An entry that somebody else made is left alone. */
export interface ConfigFile {
  /**
   * Puts the entry in. `taken` are the names of entries in the same section that the lockfile has for other entities.
   * @throws RangeError when the file cannot be merged into.
   */
  merge(text: string, wanted: ConfigEntry, earlier: EarlierEntry | undefined, taken: readonly string[]): MergedConfig;
  /** Takes the entry out if it is as the install wrote it. @throws RangeError */
  remove(text: string, earlier: EarlierEntry): { text: string } | 'absent' | 'another';
  /** @throws RangeError */
  verify(text: string, earlier: EarlierEntry): 'same' | 'absent' | 'another';
}

/** The name, or the first one with a number that is free. */
export function freeName(name: string, isFree: (name: string) => boolean): string {
  if (isFree(name)) return name;
  for (let number = 2; ; number += 1) if (isFree(`${name}-${number}`)) return `${name}-${number}`;
}
