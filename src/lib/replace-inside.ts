// Things in a folder that others may have prepared, replaced as a whole by what was made aside.
import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { link, lstat, readdir, readlink, realpath, rename, symlink } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { writeAndRename } from './files.ts';
import { type HeldFolder, makeFoldersBelow, removeBelow } from './held-folder.ts';
import { absentOrThrow, namesOf, parentInside, relativePathFault, throughLink } from './path-inside.ts';
import { besideName, placeBelow } from './place-tree.ts';
import { readPlainText } from './plain-file.ts';

/** What was replaced, until it is certain that it will not be needed. */
export interface Replaced {
  /** Puts it back, in the place of what came there. */
  undo(): Promise<void>;
  /** It goes with the attic; only what could not be moved there is removed. */
  finish(): Promise<void>;
}

/**
 * Moves what is finished (`from`, where nobody else writes) to `path`; without it, nothing is there afterwards. What was there
 * before, be it a link, is moved into `attic`, or beside where that is on another filesystem, and back when the move fails. @throws PathError
 */
export async function replaceInside(
  root: string,
  path: string,
  from: string | undefined,
  attic: string,
): Promise<Replaced> {
  await parentInside(root, path);
  const oldName = `old-${randomUUID()}`;
  const note = `${oldName}${NOTE}`;
  try {
    // Otherwise what is finished would be somebody else's, and the old folder would leave the root.
    if (!(await realpath(attic)).startsWith(`${root}${sep}`)) throw throughLink(path);
    // Whoever is ended between the two moves leaves word of where the old folder belongs.
    await writeAndRename({ folder: attic, name: note, content: path });
    return await inParent(root, path, (parent, name) => swap(root, path, { from, parent, name, attic, oldName }));
  } finally {
    await removeBelow({ place: attic }, note);
  }
}

const NOTE = '.path';

/**
 * Ends what a `replaceInside` was ended in: where nothing is in the place of what is old in `attic`, that goes back there, if
 * it is a place that `isPlace` knows as one. @throws PathError when that cannot be done.
 */
export async function putBackInside(
  root: string,
  attic: Pick<HeldFolder, 'place'>,
  isPlace: (path: string) => boolean,
): Promise<void> {
  for (const note of await readdir(attic.place)) {
    if (!/^old-[\w-]+\.path$/.test(note)) continue;
    const path = (await readPlainText(join(attic.place, note))) ?? '';
    const old = join(attic.place, note.slice(0, -NOTE.length));
    const found = await lstat(old).catch(absentOrThrow);
    if (!found || relativePathFault(path) !== undefined || !isPlace(path)) continue;
    await parentInside(root, path);
    if (await lstat(join(root, ...namesOf(path))).catch(absentOrThrow)) continue;
    await inParent(root, path, (parent, name) => putWhereNothingIs(old, found, join(parent.place, name)));
  }
}

/** Fails where something came there just now, unless those are a folder and an empty one. What was not moved goes with the attic. */
async function putWhereNothingIs(old: string, found: Stats, place: string): Promise<void> {
  if (found.isDirectory()) return rename(old, place);
  if (found.isSymbolicLink()) return symlink(await readlink(old), place);
  if (!found.isFile()) return;
  await link(old, place).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw error;
    // This filesystem knows no second names.
    return rename(old, place);
  });
}

interface Swap {
  from: string | undefined;
  parent: HeldFolder;
  name: string;
  attic: string;
  oldName: string;
}

async function swap(root: string, path: string, { from, parent, name, attic, oldName }: Swap): Promise<Replaced> {
  const place = join(parent.place, name);
  const beside = besideName();
  const moveTo = (there: string) => rename(place, there).then(() => true, absentOrThrow);
  let old: 'none' | 'in attic' | 'beside' = 'none';
  try {
    if (await moveTo(join(attic, oldName))) old = 'in attic';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    if (await moveTo(join(parent.place, beside))) old = 'beside';
  }
  const putBack = async (folder: HeldFolder) => {
    const whole = join(folder.place, name);
    if (old === 'in attic') await rename(join(attic, oldName), whole);
    if (old === 'beside') await rename(join(folder.place, beside), whole);
  };
  try {
    if (from !== undefined) await placeBelow(from, parent, name);
  } catch (error) {
    await putBack(parent);
    throw error;
  }
  return {
    undo: () =>
      inParent(root, path, async (folder) => {
        await removeBelow(folder, name);
        await putBack(folder);
      }),
    async finish() {
      if (old === 'beside') await inParent(root, path, (folder) => removeBelow(folder, beside));
    },
  };
}

async function inParent<T>(
  root: string,
  path: string,
  work: (parent: HeldFolder, name: string) => Promise<T>,
): Promise<T> {
  const names = namesOf(path);
  const name = names.pop() ?? '';
  const held = await makeFoldersBelow(root, names);
  if (!held) throw throughLink(path);
  return work(held, name).finally(held.close);
}
