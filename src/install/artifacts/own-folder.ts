// A folder for this process alone, out of reach of all targets: programs that follow links work in there, and it has a pip that
// starts in a quarter of the time, unpacked and compiled.
import { constants, lstatSync, rmSync } from 'node:fs';
import { access, chmod, chown, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { lockFile, tryLock } from '../../lib/file-lock.ts';
import { InstallError } from './artifact-installer.ts';

/** Some machines remove what lies in a temporary folder for days, a part first. */
const FRESH_MS = 12 * 3_600_000;
const LONGEST_USE_MS = 3_600_000;
/** Whoever has only just made a folder may not have its lock yet. */
const YOUNG_MS = 600_000;
const SET_GROUP = 0o2000;
const STICKY = 0o1000;
const WRITABLE_BY_OTHERS = 0o022;
const PREFIX = 'hub-installs-';
const STEP = 'step-';
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
  const folder = await makeStepFolder();
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

async function makeStepFolder(): Promise<string> {
  const own = ownFolder();
  const made = await mkdtemp(join(await own, STEP)).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? undefined : noPlace(error),
  );
  if (made !== undefined) return made;
  // Somebody has removed it, as those do who make room in temporary folders.
  if (newest?.folder === own) newest = undefined;
  return mkdtemp(join(await ownFolder(), STEP)).catch(noPlace);
}

/** What cannot be removed goes with the process. */
export async function removeWorkFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => {});
}

async function makeFolder(): Promise<string> {
  const around = await temporaryFolder();
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

/** @throws InstallError */
async function temporaryFolder(): Promise<string> {
  const last = () => usable(tmpdir()).catch(noPlace);
  return isChosen() ? last() : usable(LARGE_TEMPORARY).catch(last);
}

/** By one of the names that `tmpdir` looks at. */
function isChosen(): boolean {
  // biome-ignore lint/style/noProcessEnv: the choice is of the whole process; `tmpdir` does not tell whether there was one.
  return ['TMPDIR', 'TMP', 'TEMP'].some((name) => process.env[name]);
}

async function usable(path: string): Promise<string> {
  const folder = await realpath(path);
  await access(folder, constants.W_OK | constants.X_OK);
  const { uid, mode } = await stat(folder);
  const isOurs = uid === process.geteuid?.() && (mode & WRITABLE_BY_OTHERS) === 0;
  // Without the sticky bit, whoever may write to a folder may put something else in the place of what is ours.
  const isSafe = process.platform === 'win32' || isOurs || (mode & STICKY) !== 0;
  if (!isSafe)
    throw new InstallError(
      `Other users could replace what the hub has in ${named(path)}: let only the hub's user write to it, or set its sticky bit (chmod +t); or set TMPDIR to another folder, and start the hub again.`,
    );
  return folder;
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

const NO_ROOM: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full',
  EDQUOT: 'The disk quota of the hub is used up',
};

function noPlace(error: NodeJS.ErrnoException): never {
  if (error instanceof InstallError) throw error;
  const { code = 'unknown reason', path = '' } = error;
  const full = NO_ROOM[code];
  const [around = ''] = path.split(`${sep}${PREFIX}`);
  if (full)
    throw new InstallError(
      `${full} in ${named(around)}: make room there and install again, or set TMPDIR to another folder, and start the hub again.`,
      { cause: error },
    );
  throw new InstallError(
    `There is no folder for temporary files in which programs could work (${code}): set TMPDIR to one, and start the hub again.`,
    { cause: error },
  );
}

/** Paths that somebody has chosen are left out of sentences. */
function named(path: string): string {
  const folder = 'the folder for temporary files';
  return isChosen() ? `${folder} that TMPDIR names` : `${folder}, ${path}`;
}
