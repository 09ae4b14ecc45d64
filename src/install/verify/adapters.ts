// Whether glue code is still what an install wrote.
import { absent } from '../../lib/absent.ts';
import { fileDigest } from '../../lib/file-digest.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { jsonDigest } from '../../lib/json-digest.ts';
import { pathInside } from '../../lib/path-inside.ts';
import { readPlainText } from '../../lib/plain-file.ts';
import { isClientSetting, isFilledIn, sectionsOf } from '../adapters/config-file.ts';
import { readConfig } from '../adapters/config-text.ts';
import { sectionOf } from '../adapters/write-adapters.ts';
import type { LockedAdapter } from '../contract.ts';
import { different, type Found, missing, SAME } from './check.ts';

export async function verifyAdapter(adapter: LockedAdapter, targetDir: string): Promise<Found> {
  const file = await pathInside(targetDir, adapter.path);
  if (typeof adapter.entry === 'string') return verifyEntry(await textOf(file), adapter.entry, adapter);
  const digest = await fileDigest(file).catch(absent);
  if (digest === undefined) return missing('the file is gone');
  return digest === adapter.integrity ? SAME : different('the file was changed');
}

/** Only the entry: the rest of such a file belongs to others, and settings of the client to its user. */
function verifyEntry(text: string | undefined, name: string, adapter: LockedAdapter): Found {
  const { integrity, written } = adapter;
  if (text === undefined) return missing('the file is gone');
  const entry = entryIn(text, name, sectionOf(adapter));
  if (entry === undefined) return missing(`the entry '${name}' is gone`);
  const ours = Object.fromEntries(Object.entries(entry).filter(([key]) => !isClientSetting(key)));
  // Values in the place of a placeholder are no change: installs keep them too.
  const isSame = jsonDigest(ours) === integrity || (jsonDigest(written) === integrity && isFilledIn(written, ours));
  return isSame ? SAME : different(`the entry '${name}' was changed`);
}

function entryIn(text: string, name: string, section: string | undefined): JsonObject | undefined {
  try {
    // Whether its client takes comments is the business of the client.
    const document = readConfig(text, { allowsComments: true });
    return sectionsOf(document, name, section)
      .map(([, each]) => each[name])
      .find(isJsonObject);
  } catch {
    return undefined;
  }
}

function textOf(file: string): Promise<string | undefined> {
  return readPlainText(file).catch(absent);
}
