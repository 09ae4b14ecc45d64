// Files inside a folder that others may have prepared: no path leaves it, no link is followed, nothing is half written.
import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, lstat, open, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type HeldFolder, holdFolder, makeFoldersBelow, removeBelow } from './held-folder.ts';
import { absentOrThrow, namesOf, pathInside, throughLink, unwritable } from './path-inside.ts';

/** Makes the folder and those above it, up to the root; a link on the way is refused. @throws PathError */
export async function makeFolderInside(root: string, path: string): Promise<string> {
  const held = await holdFolderInside(root, path);
  await held.close();
  return join(root, ...namesOf(path));
}

/** The same, held open for whoever asks, who closes it. @throws PathError */
export async function holdFolderInside(root: string, path: string): Promise<HeldFolder> {
  await pathInside(root, path);
  const held = await makeFoldersBelow(root, namesOf(path));
  if (!held) throw throughLink(path);
  return held;
}

/**
 * All or nothing: readers see the file as it was, or whole. Whoever may read and write what is there may do so afterwards, and
 * nobody else; a new file may have that from another one. Returns the absolute path. @throws PathError
 */
export async function writeFileInside(
  root: string,
  path: string,
  content: string | Buffer,
  { accessOf }: { accessOf?: string } = {},
): Promise<string> {
  const whole = await pathInside(root, path);
  const names = namesOf(path);
  const name = names.pop() ?? '';
  const held = await makeFoldersBelow(root, names);
  if (!held) throw throughLink(path);
  try {
    const existing = await lstat(join(held.place, name)).catch(absentOrThrow);
    if (existing?.isDirectory()) throw unwritable(path, 'it is a folder');
    const model =
      accessOf === undefined ? undefined : await lstat(await pathInside(root, accessOf)).catch(absentOrThrow);
    await writeAside(root, { folder: held.place, name, content, access: existing ?? model });
  } finally {
    await held.close();
  }
  return whole;
}

interface FileToWrite {
  folder: string;
  name: string;
  content: string | Buffer;
  /** Of a file whose owner, group and mode it gets. */
  access?: Stats | undefined;
}

/** Where a root has this folder, files that are not finished are in it: whoever is next there tidies it up. */
const UNFINISHED = '.hub';

async function writeAside(root: string, file: FileToWrite): Promise<void> {
  const aside = await holdFolder(join(root, UNFINISHED)).catch(() => undefined);
  try {
    await writeAndRename(file, aside?.place);
  } catch (error) {
    // Part of the root is on another filesystem.
    if (!aside || (error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await writeAndRename(file);
  } finally {
    await aside?.close();
  }
}

export async function writeAndRename(
  { folder, name, content, access }: FileToWrite,
  aside: string = folder,
): Promise<void> {
  const unfinished = join(aside, `.${randomUUID()}.unfinished`);
  try {
    const file = await open(unfinished, 'wx', access?.isFile() ? 0o600 : 0o644);
    try {
      if (access?.isFile()) await giveAccess(file, access);
      await file.writeFile(content);
      // Otherwise a machine that fails now may keep the new name and lose what it is the name of.
      await file.sync();
    } finally {
      await file.close();
    }
    // Replaces a link instead of following it.
    await rename(unfinished, join(folder, name));
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

async function giveAccess(file: FileHandle, { mode, uid, gid }: Stats): Promise<void> {
  const own = await file.stat();
  if (own.uid !== uid || own.gid !== gid) {
    // Only root gives files away; others may still give them to a group of theirs.
    const toGroup = () => file.chown(own.uid, gid);
    await file.chown(uid, gid).catch(toGroup).catch(noSuchRight);
  }
  const isOfGroup = (await file.stat()).gid === gid;
  await file.chmod(mode & (isOfGroup ? 0o777 : 0o707)).catch(noSuchRight);
}

/** Filesystems without owners refuse that too. */
function noSuchRight(): void {}

/** Removes what is there, and folders above it that are empty then, up to the root. @throws PathError */
export async function removeInside(root: string, path: string): Promise<void> {
  await pathInside(root, path);
  const names = namesOf(path);
  for (let isLast = true; names.length > 0; isLast = false) {
    const name = names.pop() ?? '';
    const held = await makeFoldersBelow(root, names);
    if (!held) throw throughLink(path);
    try {
      if (isLast) await removeBelow(held, name);
      else await rmdir(join(held.place, name));
    } catch (error) {
      if (isLast) throw error;
      // It holds something else.
      return;
    } finally {
      await held.close();
    }
  }
}
