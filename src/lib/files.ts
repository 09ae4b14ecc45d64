// Files inside a folder that others may have prepared: no path leaves it, no link is followed, nothing is half written.
import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { absentOrThrow, namesOf, pathInside, unwritable } from './path-inside.ts';

/** Makes the folder and those above it, up to the root; a link on the way is refused. @throws PathError */
export async function makeFolderInside(root: string, path: string): Promise<string> {
  const whole = await pathInside(root, path);
  await mkdir(whole, { recursive: true });
  return whole;
}

/**
 * All or nothing: readers see the file as it was, or whole. A file keeps its owner, group and mode; a new one may take them
 * from another file. Returns the absolute path. @throws PathError
 */
export async function writeFileInside(
  root: string,
  path: string,
  content: string | Buffer,
  { accessOf }: { accessOf?: string } = {},
): Promise<string> {
  const whole = await pathInside(root, path);
  await mkdir(dirname(whole), { recursive: true });
  const existing = await lstat(whole).catch(absentOrThrow);
  if (existing?.isDirectory()) throw unwritable(path, 'it is a folder');
  const model = accessOf === undefined ? undefined : await lstat(await pathInside(root, accessOf)).catch(absentOrThrow);
  await writeAside(root, whole, { content, access: existing ?? model });
  return whole;
}

interface FileContent {
  content: string | Buffer;
  /** A file whose owner, group and mode it gets. */
  access?: Stats | undefined;
}

/** Files that are not finished are kept in this folder, if the root has it: the next install removes them. */
const UNFINISHED = '.hub';

async function writeAside(root: string, whole: string, file: FileContent): Promise<void> {
  const aside = join(root, UNFINISHED);
  const isThere = await lstat(aside).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isThere) return writeAndRename(whole, file, dirname(whole));
  await writeAndRename(whole, file, aside).catch((error: NodeJS.ErrnoException) => {
    // Part of the root is on another filesystem.
    if (error.code !== 'EXDEV') throw error;
    return writeAndRename(whole, file, dirname(whole));
  });
}

async function writeAndRename(whole: string, { content, access }: FileContent, aside: string): Promise<void> {
  const unfinished = join(aside, `.${randomUUID()}.unfinished`);
  try {
    const file = await open(unfinished, 'wx', access?.isFile() ? 0o600 : 0o644);
    try {
      if (access?.isFile()) await giveAccess(file, access);
      await file.writeFile(content);
      // Otherwise a machine that fails now may keep the new name without the content.
      await file.sync();
    } finally {
      await file.close();
    }
    // Replaces a link instead of following it.
    await rename(unfinished, whole);
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
  await rm(await pathInside(root, path), { recursive: true, force: true });
  const names = namesOf(path).slice(0, -1);
  for (; names.length > 0; names.pop()) {
    // A folder that holds something else stays, and so do those above it.
    const isRemoved = await rmdir(join(root, ...names)).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return;
  }
}
