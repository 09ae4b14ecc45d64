// Paths below a folder that others may have prepared: whether they stay in it.
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';

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
  assertRelative(path);
  const names = namesOf(path);
  let place = root;
  for (const [index, name] of names.entries()) {
    place = join(place, name);
    const found = await lstat(place).catch(absentOrThrow);
    if (!found) break;
    if (found.isSymbolicLink()) throw throughLink(path);
    const isLast = index === names.length - 1;
    if (!isLast && !found.isDirectory()) throw unwritable(path, `'${names.slice(0, index + 1).join('/')}' is a file`);
  }
  return join(root, ...names);
}

function assertRelative(path: string): void {
  const fault = relativePathFault(path);
  if (fault) throw new PathError(`The path '${shown(path)}' ${fault}.`);
}

export function namesOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/');
}

export function unwritable(path: string, why: string): PathError {
  return new PathError(`'${shown(path)}' cannot be written: ${why}.`);
}

function throughLink(path: string): PathError {
  return new PathError(`'${shown(path)}' goes through a link, which is not followed.`);
}

export function absentOrThrow(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  if (error.code === 'ENOTDIR') throw new PathError('A file is where a folder should be.');
  throw error;
}

function shown(path: string): string {
  return path.length > 120 ? `${path.slice(0, 120)}…` : path;
}
