// Glue code that an earlier install wrote: compared with what is in the target now, and removed.
import { isJsonObject } from '../../lib/json.ts';
import type { LockCheck, LockedAdapter } from '../contract.ts';
import { readInside, removeInside, writeFileInside } from '../target/files.ts';
import { textDigest } from '../target/tree.ts';
import type { ConfigEntry, ConfigFile, EarlierEntry } from './adapter-template.ts';
import { jsonConfig } from './json-config.ts';
import { findTemplate } from './templates.ts';
import { tomlConfig } from './toml-config.ts';

/** Only the entry of a file that others write too; values in the place of placeholders are no change. */
export async function verifyAdapter(
  targetDir: string,
  locked: LockedAdapter,
): Promise<Pick<LockCheck, 'outcome' | 'reason'>> {
  const text = await readInside(targetDir, locked.path);
  if (text === undefined) return { outcome: 'missing', reason: 'the file is gone' };
  const earlier = earlierEntry(locked);
  if (!earlier) {
    if (textDigest(text) === locked.integrity) return { outcome: 'same' };
    return { outcome: 'different', reason: 'the file was changed' };
  }
  const state = inFile(() => configFile(earlier).verify(text, earlier));
  if (state === 'same') return { outcome: 'same' };
  if (state === 'absent') return { outcome: 'missing', reason: `the entry '${earlier.name}' is gone` };
  return { outcome: 'different', reason: `the entry '${earlier.name}' was changed` };
}

/** `edited` is a file that others write too, of which only the entry was taken out. */
export type RemovalOutcome = 'removed' | 'edited' | 'changed' | 'absent';

/** A file that is as it was written, or an entry; what somebody changed stays. */
export async function removeAdapter(targetDir: string, locked: LockedAdapter): Promise<RemovalOutcome> {
  const text = await readInside(targetDir, locked.path);
  if (text === undefined) return 'absent';
  const earlier = earlierEntry(locked);
  if (!earlier && textDigest(text) !== locked.integrity) return 'changed';
  const removed = earlier ? inFile(() => configFile(earlier).remove(text, earlier)) : { text: '' };
  if (removed === 'absent') return 'absent';
  if (removed === 'another') return 'changed';
  // A file that holds nothing else was made for the entry.
  if (/^\s*(\{\s*("\w+"\s*:\s*\{\s*\}\s*)?\})?\s*$/.test(removed.text)) {
    await removeInside(targetDir, locked.path);
    return 'removed';
  }
  await writeFileInside(targetDir, locked.path, removed.text);
  return 'edited';
}

/** A file that can no longer be read as a configuration was changed. */
function inFile<Answer>(work: () => Answer): Answer | 'another' {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) return 'another';
    throw error;
  }
}

export function configFile({ format }: Pick<ConfigEntry, 'format'>): ConfigFile {
  return format === 'toml' ? tomlConfig : jsonConfig;
}

/** Undefined for files of their own. */
export function earlierEntry(locked: LockedAdapter | undefined): EarlierEntry | undefined {
  const layout = locked && findTemplate(locked.framework, locked.template_key)?.entryOf;
  if (!layout || typeof locked.entry !== 'string' || !isJsonObject(locked.written)) return undefined;
  return { ...layout, name: locked.entry, entry: locked.written };
}
