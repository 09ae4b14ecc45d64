// What a template of glue code is.
import type { JsonObject } from '../../lib/json.ts';
import type { InstallSubject } from '../subject.ts';
import type { ConfigFormat } from './config-text.ts';

export interface AdapterRequest {
  subject: InstallSubject;
  params: JsonObject;
}

/** An entry in a file that others write too. */
export interface ConfigEntry extends ConfigFormat {
  /** The member of the file that holds all entries. */
  section: string;
  name: string;
  entry: JsonObject;
}

export type Rendered = { kind: 'file'; content: string } | ({ kind: 'entry' } & ConfigEntry);

export interface AdapterTemplate {
  /** Of templates that render an entry: the member of the file that holds it. */
  section?: string;
  /** Relative to the target; used when the manifest names none. */
  path(subject: InstallSubject): string;
  render(request: AdapterRequest): Rendered;
}
