// Reads the manifest that `--manifest` names: a file, an address, or standard input.
import { HubError } from '../errors.ts';
import type { JsonObject } from '../lib/json.ts';
import type { OwnInstall } from './hub/own-install.ts';
import { readText } from './terminal/read-text.ts';
import type { Terminal } from './terminal/terminal.ts';

export interface ReadManifest {
  id: string;
  manifest: JsonObject;
  source_url?: string;
}

/** @throws UsageError, HubError `invalid_manifest` */
export async function readManifest(
  from: string,
  { terminal, fetchManifest }: { terminal: Terminal; fetchManifest: OwnInstall['fetchManifest'] },
): Promise<ReadManifest> {
  if (/^https?:/i.test(from)) {
    const fetched = await fetchManifest(from, terminal.shutdown);
    if ('error' in fetched)
      throw new HubError('invalid_manifest', `The manifest at ${from} cannot be used: ${fetched.error}.`);
    const { uid, manifestText, sourceUrl } = fetched.entity;
    return { id: uid, manifest: JSON.parse(manifestText), ...(sourceUrl === null ? {} : { source_url: sourceUrl }) };
  }
  const { entityFromText } = await import('../remotes/ingest/entity-from-text.ts');
  const { uid, manifestText } = entityFromText({ url: from, text: await textAt(from, terminal) });
  return { id: uid, manifest: JSON.parse(manifestText) };
}

async function textAt(from: string, terminal: Terminal): Promise<string> {
  const text = await readText(from, terminal);
  if (text.trim() !== '') return text;
  const empty = from === '-' ? 'Standard input is empty' : `The file ${from} is empty`;
  throw new HubError('invalid_manifest', `${empty}: there is no manifest to install.`);
}
