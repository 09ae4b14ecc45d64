// The interface of glue code templates, and the results of rendering them.
import type { ClientLayout } from '../../catalog/client-config.ts';
import type { Launch } from '../../catalog/launch/launch.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { InstallSubject } from '../subject.ts';

export interface AdapterRequest {
  subject: InstallSubject;
  params: JsonObject;
  launch: Launch;
  path: string;
  targetDir: string;
}

export type Rendered =
  | { kind: 'file'; content: string }
  | ({ kind: 'entry'; inputs: readonly JsonObject[] } & ConfigEntry)
  /** Not written: the user pastes the text. */
  | { kind: 'paste'; note: string; text?: string };

export interface AdapterTemplate {
  /** The file format and the section of the entry. Only for templates that render an entry. */
  entryOf?: Pick<ConfigEntry, 'format' | 'section'>;
  /** Explains why the template writes nothing into the target. */
  note?: string;
  /** Relative to the target; used if the manifest names no path. */
  path(subject: InstallSubject): string;
  render(request: AdapterRequest): Rendered;
}

/** An entry in the configuration of a client, a file that people and other programs edit too. */
export interface ConfigEntry {
  format: ClientLayout['format'];
  section: string;
  name: string;
  /** Contains placeholders for values that only the user knows. */
  entry: JsonObject;
}

/** A format of configuration files. All methods throw a RangeError if the file cannot be read. */
export interface ConfigFormat {
  /** The entry with this name, if any. */
  find(text: string, place: Omit<ConfigEntry, 'entry'>): unknown;
  put(text: string, entry: ConfigEntry): string;
  /** Returns the text unchanged if the entry cannot be cut out. */
  remove(text: string, entry: ConfigEntry): string;
  /** Questions that the client asks its user. */
  addInputs?(text: string, inputs: readonly JsonObject[]): string;
}
