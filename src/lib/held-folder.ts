// A folder that is held open: what is made in it stays in it, whatever is put in the place of its path meanwhile.
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, readlink, realpath, rmdir, unlink } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { allEndedOf } from './all-ended.ts';

export interface HeldFolder {
  /** The folder itself, for paths below it; where the system cannot do that, its path. */
  readonly place: string;
  /** Whether a path leads there, and directly. */
  isAt(path: string): Promise<boolean>;
  close(): Promise<void>;
}

const OWN_FILES = '/proc/self/fd/';
const FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** Undefined when the path does not lead there directly, but through a link. Errors of the system are thrown. */
export async function holdFolder(path: string): Promise<HeldFolder | undefined> {
  const handle = await open(path, FLAGS);
  const held = await heldBy(handle, path);
  const found = await readlink(held.place).catch(() => realpath(path));
  if (found === path) return held;
  await held.close();
  return undefined;
}

/**
 * Makes folders below one another, those that are there already included; undefined when one of them is a link, or becomes
 * one. Errors of the system are thrown.
 */
export async function makeFoldersBelow(path: string, names: readonly string[]): Promise<HeldFolder | undefined> {
  let held = await holdFolder(path);
  let whole = path;
  for (const name of names) {
    if (!held) return undefined;
    whole = join(whole, name);
    const next = await makeChild(held, name, whole).finally(held.close);
    held = next;
  }
  return held;
}

/** A folder that is there; errors of the system are thrown, also where it is a link. */
export async function holdBelow({ place }: Pick<HeldFolder, 'place'>, name: string): Promise<HeldFolder> {
  const path = join(place, name);
  return heldBy(await open(path, FLAGS), path);
}

/** Of folders below one another the last; undefined when one is not there. Errors of the system are thrown, also where one is a link. */
export async function holdPath(path: string, names: readonly string[]): Promise<HeldFolder | undefined> {
  try {
    let held = await holdFolder(path);
    for (const name of names) held = await (held && holdBelow(held, name).finally(held.close));
    return held;
  } catch (error) {
    return unlessAbsent(error as NodeJS.ErrnoException);
  }
}

/** While somebody writes or moves things there; a program that was ended may do so for a moment. */
const BUSY_CODES = ['ENOTEMPTY', 'EEXIST', 'EBUSY', 'ENOTDIR', 'ELOOP'];
const MOST_TURNS = 4;

/**
 * Removes what is there under the name, with all that is in it. Links are removed and never followed, also those that take
 * the place of a folder meanwhile: each folder is held while it is emptied.
 */
export async function removeBelow(folder: Pick<HeldFolder, 'place'>, name: string): Promise<void> {
  const whole = Buffer.from(join(folder.place, name));
  for (let turn = 1; ; turn += 1) {
    try {
      const found = await lstat(whole).catch(unlessAbsent);
      return found && (await remove(whole, found.isDirectory()));
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (turn === MOST_TURNS || !BUSY_CODES.includes(code)) throw error;
      await sleep(turn * 50);
    }
  }
}

/** Names as bytes: they need not be text. */
async function remove(whole: Buffer, isFolder: boolean): Promise<void> {
  if (!isFolder) return unlink(whole).catch(unlessAbsent);
  const held = await heldBy(await open(whole, FLAGS), whole.toString());
  try {
    const entries = await readdir(held.place, { withFileTypes: true, encoding: 'buffer' });
    const removeEntry = (entry: (typeof entries)[number]) =>
      remove(Buffer.concat([Buffer.from(`${held.place}${sep}`), entry.name]), entry.isDirectory());
    // The folder is held until the last of them is through: its handle could be that of another folder afterwards.
    await allEndedOf(
      entries.filter((entry) => !entry.isDirectory()),
      removeEntry,
    );
    // One by one, so that no more are open than lie inside one another.
    for (const entry of entries) if (entry.isDirectory()) await removeEntry(entry);
  } finally {
    await held.close();
  }
  await rmdir(whole).catch(unlessAbsent);
}

function unlessAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

async function makeChild({ place }: HeldFolder, name: string, whole: string): Promise<HeldFolder | undefined> {
  await mkdir(join(place, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  try {
    return await heldBy(await open(join(place, name), FLAGS), whole);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // What the system says of a link that was not to be followed; a file is told apart by whoever asks.
    if (code === 'ELOOP' || code === 'EMLINK') return undefined;
    throw error;
  }
}

async function heldBy(handle: FileHandle, path: string): Promise<HeldFolder> {
  const place = `${OWN_FILES}${handle.fd}`;
  const isKnown = await readlink(place).then(
    () => true,
    () => false,
  );
  return {
    place: isKnown ? place : path,
    async isAt(wanted) {
      const [own, found] = await Promise.all([handle.stat({ bigint: true }), directly(wanted)]);
      return own.dev === found?.dev && own.ino === found.ino;
    },
    close: () => handle.close(),
  };
}

/** Undefined when there is nothing, or a link on the way. */
async function directly(path: string) {
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  return (await realpath(path).catch(() => undefined)) === path ? found : undefined;
}
