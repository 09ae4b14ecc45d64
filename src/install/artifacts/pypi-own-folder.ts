// A folder for this process alone, out of reach of all targets: for a pip that starts in a quarter of the time, unpacked and compiled,
// and for programs, which cannot be started in every target.
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Some machines remove what lies in a temporary folder for days, a part first. */
const FRESH_MS = 12 * 3_600_000;
const LONGEST_USE_MS = 3_600_000;

let newest: { folder: Promise<string>; madeAtMs: number } | undefined;

/** Empty when there is no such place. */
export function ownFolder(): Promise<string> {
  const isFresh = newest !== undefined && Date.now() - newest.madeAtMs < FRESH_MS;
  if (!newest || !isFresh) newest = { folder: makeFolder(), madeAtMs: Date.now() };
  return newest.folder;
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hub-python-')).catch(() => '');
  if (folder === '') return folder;
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  const removeOld = () => rm(folder, { recursive: true, force: true }).then(() => process.off('exit', remove));
  setTimeout(() => removeOld().catch(() => {}), FRESH_MS + LONGEST_USE_MS).unref();
  return folder;
}
