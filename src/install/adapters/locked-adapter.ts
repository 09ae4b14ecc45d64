// Verifies, restores and removes glue code that an earlier install wrote.
import { isJsonObject } from '../../lib/json.ts';
import { LOCKFILE_NAME, type LockedAdapter, type LockFinding } from '../contract.ts';
import { InstallError } from '../errors.ts';
import { readInside, removeInside, writeFileInside } from '../target/files.ts';
import { textDigest } from '../target/tree.ts';
import type { ConfigEntry, Rendered } from './adapter-template.ts';
import { type EntryState, formatOf, stateOf } from './config-file.ts';
import { findTemplate } from './templates.ts';

/** Compares a file, or the entry in a shared file; values that a person filled in are not a change. */
export async function verifyAdapter(targetDir: string, locked: LockedAdapter): Promise<LockFinding> {
  const text = await readInside(targetDir, locked.path);
  if (text === undefined) return { outcome: 'missing', reason: 'the file is missing' };
  const entry = lockedEntry(locked);
  const what = entry ? `the entry '${entry.name}'` : 'the file';
  const state = lockedState(text, locked);
  if (state instanceof RangeError)
    return { outcome: 'different', reason: `${state.message}: fix it, or move it away and run 'hub install --frozen'` };
  if (state === 'absent') return { outcome: 'missing', reason: `${what} is missing` };
  if (state === 'same' || state === 'filled in') return { outcome: 'same' };
  if (locked.kept) return { outcome: 'unchecked', reason: `${what} was changed, and the last install kept the change` };
  return { outcome: 'different', reason: `${what} was changed` };
}

/** `edited` means that the entry was removed from a shared file. */
export type RemovalOutcome = 'removed' | 'edited' | 'changed' | 'absent';

export interface RemovalRules {
  /** Whether to remove what a person changed. */
  isForced: boolean;
  /** Nothing is removed. */
  isDryRun?: boolean;
}

/** Explains why an entry cannot be removed from a client's configuration, which would then refer to a missing server. */
export async function removalFault(targetDir: string, locked: LockedAdapter, isForced: boolean) {
  const text = lockedEntry(locked) && (await readInside(targetDir, locked.path));
  const state = text === undefined ? 'absent' : lockedState(text, locked);
  if (state instanceof RangeError)
    return `'${locked.path}' cannot be read: ${state.message}. Fix it, then uninstall again.`;
  if (state !== 'another' || isForced) return undefined;
  return `The entry '${locked.entry}' of '${locked.path}' has changed since it was installed. --force removes it.`;
}

/** Removes a file or an entry. A changed one is kept unless forced; filled-in values do not count as changes. */
export async function removeAdapter(targetDir: string, locked: LockedAdapter, { isForced, isDryRun }: RemovalRules) {
  const text = await readInside(targetDir, locked.path);
  const state = text === undefined ? 'absent' : lockedState(text, locked);
  if (text === undefined || state === 'absent') return 'absent';
  if (state instanceof RangeError || (state === 'another' && !isForced)) return 'changed';
  const entry = lockedEntry(locked);
  const rest = entry ? formatOf(entry).remove(text, entry) : '';
  if (rest === text) return 'changed';
  // The file contains nothing else, so it was created for the entry.
  if (/^\s*(\{\s*("\w+"\s*:\s*\{\s*\}\s*)?\})?\s*$/.test(rest)) {
    if (!isDryRun) await removeInside(targetDir, locked.path);
    return 'removed';
  }
  if (!isDryRun) await writeFileInside(targetDir, locked.path, rest);
  return 'edited';
}

/** Returns the error if the file cannot be parsed. */
function lockedState(text: string, locked: LockedAdapter): EntryState | RangeError {
  const entry = lockedEntry(locked);
  if (!entry) return textDigest(text) === locked.integrity ? 'same' : 'another';
  try {
    return stateOf(formatOf(entry).find(text, entry), entry.entry);
  } catch (error) {
    if (error instanceof RangeError) return error;
    throw error;
  }
}

/** Returns undefined for adapters that are whole files. */
export function lockedEntry(locked: LockedAdapter | undefined): ConfigEntry | undefined {
  const layout = locked && findTemplate(locked.framework, locked.template_key)?.entryOf;
  if (!layout || locked.entry === undefined || !isJsonObject(locked.written)) return undefined;
  return { ...layout, name: locked.entry, entry: locked.written };
}

/** Renders the locked content again, for frozen installs. @throws InstallError if an earlier hub did not lock it. */
export function renderLocked(locked: LockedAdapter): Exclude<Rendered, { kind: 'paste' }> {
  const { path, written, inputs = [] } = locked;
  const entry = lockedEntry(locked);
  if (entry) return { kind: 'entry', ...entry, inputs };
  if (typeof written === 'string') return { kind: 'file', content: written };
  throw new InstallError(`${LOCKFILE_NAME} does not contain the content of '${path}'. Install once without --frozen.`);
}
