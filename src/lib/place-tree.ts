// What was made somewhere else, put into a folder that is held: moved, or copied where that is another filesystem.
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, readlink, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { allEndedOf } from './all-ended.ts';
import { type HeldFolder, holdBelow, removeBelow } from './held-folder.ts';

type Held = Pick<HeldFolder, 'place'>;

/** What is made beside something else until it takes its place; Node, npm and Python take it for nothing of theirs. */
export function besideName(): string {
  return `.hub-${randomUUID()}`;
}

const BESIDE = /^\.hub-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether somebody was ended before it took its place. */
export function isBesideName(name: string): boolean {
  return BESIDE.test(name);
}

/**
 * Nobody else may write to `from`, which is gone or useless afterwards. A file or a link that is there is replaced at once;
 * a folder is an error of the system, unless it is empty.
 */
export async function placeBelow(from: string, folder: Held, name: string): Promise<void> {
  const whole = join(folder.place, name);
  try {
    return await rename(from, whole);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
  }
  const beside = besideName();
  try {
    await copyBelow(from, folder, beside);
    await rename(join(folder.place, beside), whole);
  } catch (error) {
    await removeBelow(folder, beside).catch(() => {});
    throw error;
  }
}

/**
 * Under a name of its own, which is returned with its folder: before what it is to replace is touched, so that a full disk is
 * noticed in time, and nothing is missing while it is copied.
 */
export async function stageBelow(from: string, folder: Held): Promise<string> {
  const name = `new-${randomUUID()}`;
  await placeBelow(from, folder, name);
  return join(folder.place, name);
}

/** Links as links. */
async function copyBelow(from: string, folder: Held, name: string): Promise<void> {
  const whole = join(folder.place, name);
  const found = await lstat(from);
  if (found.isSymbolicLink()) return symlink(await readlink(from), whole);
  if (!found.isDirectory()) return copyFile(from, whole, constants.COPYFILE_EXCL);
  await mkdir(whole, { mode: found.mode & 0o777 });
  const held = await holdBelow(folder, name);
  try {
    const entries = await readdir(from, { withFileTypes: true });
    const copyEntry = (entry: (typeof entries)[number]) => copyBelow(join(from, entry.name), held, entry.name);
    await allEndedOf(
      entries.filter((entry) => !entry.isDirectory()),
      copyEntry,
    );
    // One by one, so that no more are open than lie inside one another.
    for (const entry of entries) if (entry.isDirectory()) await copyEntry(entry);
  } finally {
    await held.close();
  }
}
