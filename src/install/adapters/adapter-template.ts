// What a template of glue code is, and what it renders.
import type { ClientLayout } from '../../catalog/client-config.ts';
import type { Launch } from '../../catalog/launch/launch.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { InstallSubject } from '../subject.ts';

export type Reachable = Exclude<Launch, { kind: 'none' }>;

export interface AdapterRequest {
  subject: InstallSubject;
  params: JsonObject;
  launch: Reachable;
  path: string;
  targetDir: string;
}

export type Rendered =
  | { kind: 'file'; content: string }
  | ({ kind: 'entry'; inputs: readonly JsonObject[] } & ConfigEntry)
  /** Nothing is written: the user puts it where it belongs. */
  | { kind: 'paste'; note: string; text?: string };

export interface AdapterTemplate {
  /** The format of the file that holds the entry, and the member of the file. Only for templates that render an entry. */
  entryOf?: Pick<ConfigEntry, 'format' | 'section'>;
  /** A sentence about templates that write nothing into the target. */
  note?: string;
  /** Relative to the target; used when the manifest names none. */
  path(subject: InstallSubject): string;
  render(request: AdapterRequest): Rendered;
}

/** An entry in the configuration of a client, which people and other programs write too. */
export interface ConfigEntry {
  format: ClientLayout['format'];
  section: string;
  name: string;
  /** Has placeholders for values that only the user knows. */
  entry: JsonObject;
}

/** `filled in` is the same server, with values that a person wrote. */
export type EntryState = 'absent' | 'same' | 'filled in' | 'another';

/** A format of configuration files. All throw a RangeError when the file cannot be read. */
export interface ConfigFormat {
  compare(text: string, entry: ConfigEntry): EntryState;
  put(text: string, entry: ConfigEntry): string;
  remove(text: string, entry: ConfigEntry): string;
  /** The entry for a new version, with what a person filled into the earlier one. */
  upgrade?(text: string, wanted: ConfigEntry, earlier: JsonObject): JsonObject;
  /** Questions that the client asks its user. */
  addInputs?(text: string, inputs: readonly JsonObject[]): string;
}
