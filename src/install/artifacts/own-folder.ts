// A folder for this process alone, out of reach of all targets: programs that follow links work in there, and it has a pip that
// starts in a quarter of the time, unpacked and compiled.
import { constants, lstatSync, rmSync } from 'node:fs';
import { access, chmod, chown, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFile, tryLock } from '../../lib/file-lock.ts';
import { InstallError } from './artifact-installer.ts';

/** Some machines remove what lies in a temporary folder for days, a part first. */
const FRESH_MS = 12 * 3_600_000;
const LONGEST_USE_MS = 3_600_000;
/** Whoever has only just made a folder may not have its lock yet. */
const YOUNG_MS = 600_000;
const SET_GROUP = 0o2000;
const PREFIX = 'hub-installs-';
const LOCK = 'lock';

let newest: { folder: Promise<string>; madeAtMs: number } | undefined;

/** @throws InstallError */
export function ownFolder(): Promise<string> {
  const isFresh = newest !== undefined && Date.now() - newest.madeAtMs < FRESH_MS;
  if (newest && isFresh) return newest.folder;
  const made = { folder: makeFolder(), madeAtMs: Date.now() };
  newest = made;
  made.folder.catch(() => {
    if (newest === made) newest = undefined;
  });
  return made.folder;
}

/** For one step; what is made in it is of the group that a target gives to what is made there. @throws InstallError */
export async function makeWorkFolder(targetDir: string): Promise<string> {
  const { mode, gid } = await stat(targetDir);
  const folder = await mkdtemp(join(await ownFolder(), 'step-')).catch(noPlace);
  if (process.platform !== 'win32' && (mode & SET_GROUP) !== 0) {
    // Who is not of that group cannot give it to anything, and could not in the target either.
    const isGiven = await chown(folder, process.geteuid?.() ?? -1, gid).then(
      () => true,
      () => false,
    );
    if (isGiven) await chmod(folder, SET_GROUP | 0o700);
  }
  return folder;
}

/** What cannot be removed goes with the process. */
export async function removeWorkFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => {});
}

async function makeFolder(): Promise<string> {
  const around = await realpath(await temporaryFolder()).catch(noPlace);
  // Only its owner may look into such a folder, or change anything in it.
  const folder = await mkdtemp(join(around, PREFIX)).catch(noPlace);
  const lock = await lockFile(join(folder, LOCK), new AbortController().signal).catch(() => undefined);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  const removeOld = async () => {
    await rm(folder, { recursive: true, force: true });
    lock?.release();
    process.off('exit', remove);
  };
  setTimeout(() => removeOld().catch(() => {}), FRESH_MS + LONGEST_USE_MS).unref();
  await removeLeft(around).catch(() => {});
  return folder;
}

/** Where much may be kept: the other one is in memory on many machines. */
const LARGE_TEMPORARY = '/var/tmp';

async function temporaryFolder(): Promise<string> {
  // Somebody has chosen another one.
  if (tmpdir() !== '/tmp') return tmpdir();
  return access(LARGE_TEMPORARY, constants.W_OK | constants.X_OK).then(
    () => LARGE_TEMPORARY,
    () => tmpdir(),
  );
}

/** Of processes that were killed: the lock of such a folder is over. */
async function removeLeft(around: string): Promise<void> {
  const names = (await readdir(around)).filter((name) => name.startsWith(PREFIX));
  for (const name of names) {
    const folder = join(around, name);
    try {
      const { uid, mtimeMs } = lstatSync(folder);
      const isOld = uid === process.geteuid?.() && Date.now() - mtimeMs > YOUNG_MS;
      const lock = isOld ? tryLock(join(folder, LOCK)) : undefined;
      if (!lock) continue;
      await rm(folder, { recursive: true, force: true });
      lock.release();
    } catch {
      // Somebody else is at it, or only just begins.
    }
  }
}

function noPlace(error: NodeJS.ErrnoException): never {
  throw new InstallError(
    `There is no folder for temporary files in which programs could work (${error.code ?? 'unknown reason'}): set TMPDIR to one, and start the hub again.`,
    { cause: error },
  );
}
