// What a template of glue code is.
import type { Launch } from '../../catalog/launch/launch.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { InstallSubject } from '../subject.ts';
import type { ConfigEntry } from './config-entry.ts';

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
