// Files inside a folder that others may have prepared: no path leaves it, no link is followed, nothing is half written.
import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, lstat, open, readdir, realpath, rename, rm, rmdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { type HeldFolder, holdFolder, makeFoldersBelow, removeBelow } from './held-folder.ts';
import { readPlainText } from './plain-file.ts';

/** A path that may not be used. Its message is a whole sentence without any path of the machine but the relative one. */
export class PathError extends Error {
  override readonly name = 'PathError';
}

const LONGEST_PATH = 1024;
const LONGEST_NAME_BYTES = 255;

/** What keeps a text from being a path below a folder, as the end of a sentence; undefined when nothing does. */
export function relativePathFault(path: string): string | undefined {
  if (path === '') return 'must not be empty';
  if (path.length > LONGEST_PATH) return `must not be longer than ${LONGEST_PATH} characters`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f]/u.test(path) || !path.isWellFormed()) return 'must not hold control characters';
  if (path.includes('\\')) return "must not hold '\\'";
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'must be relative';
  const names = path.replace(/\/$/, '').split('/');
  if (names.some((name) => name === '..')) return "must not hold '..'";
  if (names.some((name) => name === '' || name === '.')) return "must not hold '.' or empty segments";
  if (names.some((name) => Buffer.byteLength(name) > LONGEST_NAME_BYTES)) return 'holds a name that is too long';
  return undefined;
}

/**
 * The absolute path of `path` below `root`, which is absolute and has its links resolved. Whatever of it exists already
 * is neither a link nor, before its last name, anything but a folder. @throws PathError
 */
export async function pathInside(root: string, path: string): Promise<string> {
  const fault = relativePathFault(path);
  if (fault) throw new PathError(`The path '${shown(path)}' ${fault}.`);
  const names = namesOf(path);
  let place = root;
  for (const [index, name] of names.entries()) {
    place = join(place, name);
    const found = await lstat(place).catch(absentOrThrow);
    if (!found) break;
    if (found.isSymbolicLink()) throw throughLink(path);
    const isLast = index === names.length - 1;
    if (!isLast && !found.isDirectory())
      throw new PathError(`'${shown(path)}' cannot be written: '${names.slice(0, index + 1).join('/')}' is a file.`);
  }
  return join(root, ...names);
}

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
    if (existing?.isDirectory()) throw new PathError(`'${shown(path)}' cannot be written: it is a folder.`);
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

async function writeAndRename({ folder, name, content, access }: FileToWrite, aside: string = folder): Promise<void> {
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

/**
 * Moves what is finished (`from`, on the same filesystem) to `path`; what was there before is moved into `attic` first,
 * and back when the move fails. It stays in there: that it cannot be removed is no reason to fail. @throws PathError
 */
export async function replaceInside(root: string, path: string, from: string, attic: string): Promise<string> {
  const whole = await pathInside(root, path);
  const names = namesOf(path);
  const name = names.pop() ?? '';
  const held = await makeFoldersBelow(root, names);
  if (!held) throw throughLink(path);
  const oldName = `old-${randomUUID()}`;
  const old = join(attic, oldName);
  const note = `${oldName}${NOTE}`;
  try {
    // Otherwise what is finished would be somebody else's, and the old folder would leave the root.
    if (!(await realpath(attic)).startsWith(`${root}${sep}`)) throw throughLink(path);
    // Whoever is ended between the two moves leaves word of where the old folder belongs.
    await writeAndRename({ folder: attic, name: note, content: path });
    await swap(from, join(held.place, name), old);
  } finally {
    await held.close();
    await removeBelow({ place: attic }, note);
  }
  return whole;
}

const NOTE = '.path';

/**
 * Ends what a `replaceInside` was ended in: where nothing is in the place of an old folder in `attic`, it goes back there, if
 * that is a place that `isPlace` knows as one. @throws PathError when that cannot be done.
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
    const isFolder = (await lstat(old).catch(absentOrThrow))?.isDirectory() ?? false;
    if (!isFolder || relativePathFault(path) !== undefined || !isPlace(path)) continue;
    if (await lstat(await pathInside(root, path)).catch(absentOrThrow)) continue;
    const names = namesOf(path);
    const name = names.pop() ?? '';
    const held = await makeFoldersBelow(root, names);
    if (!held) throw throughLink(path);
    // Fails where something came there just now, unless that is an empty folder.
    await rename(old, join(held.place, name)).finally(held.close);
  }
}

async function swap(from: string, place: string, old: string): Promise<void> {
  const hadOld = await rename(place, old).then(() => true, absentOrThrow);
  try {
    await rename(from, place);
  } catch (error) {
    if (hadOld) await rename(old, place);
    throw error;
  }
}

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

function namesOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/');
}

function throughLink(path: string): PathError {
  return new PathError(`'${shown(path)}' goes through a link, which is not followed.`);
}

function absentOrThrow(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  if (error.code === 'ENOTDIR') throw new PathError('A file is where a folder should be.');
  throw error;
}

function shown(path: string): string {
  return path.length > 120 ? `${path.slice(0, 120)}…` : path;
}
