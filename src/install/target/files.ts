// Reads and writes files inside a target: paths stay inside, links are not followed, and writes are atomic.
import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { access, chmod, chown, lstat, mkdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { InstallError } from '../errors.ts';
import { HUB_FOLDER, STAGING } from './places.ts';

export const LONGEST_PATH = 1024;
const LONGEST_NAME_BYTES = 255;
const LARGEST_FILE = 50_000_000;

/** Explains why a text is not a path below a folder, as the end of a sentence. */
export function relativePathFault(path: string): string | undefined {
  if (path === '') return 'must not be empty';
  if (path.length > LONGEST_PATH) return `must not be longer than ${LONGEST_PATH} characters`;
  if (/\p{Cc}/u.test(path) || !path.isWellFormed()) return 'must not contain control characters';
  if (path.includes('\\')) return "must not contain '\\'";
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'must be relative';
  const names = namesOf(path);
  if (names.includes('..')) return "must not contain '..'";
  if (names.includes('') || names.includes('.')) return "must not contain '.' or empty segments";
  if (names.some((name) => Buffer.byteLength(name) > LONGEST_NAME_BYTES)) return 'contains a name that is too long';
  return undefined;
}

function namesOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/');
}

/** The absolute path below `root`. No existing part is a link, and only the last may be a file. @throws InstallError */
export async function pathInside(root: string, path: string): Promise<string> {
  const fault = relativePathFault(path);
  if (fault) throw new InstallError(`The path '${shown(path)}' ${fault}.`);
  const names = namesOf(path);
  for (const index of names.keys()) {
    const parts = names.slice(0, index + 1);
    const found = await lstat(join(root, ...parts)).catch(absent);
    if (!found) break;
    if (found.isSymbolicLink()) throw new InstallError(`'${shown(path)}' goes through a link, which is not followed.`);
    if (index < names.length - 1 && !found.isDirectory())
      throw new InstallError(`'${shown(path)}' cannot be written: '${parts.join('/')}' is a file.`);
  }
  return join(root, ...names);
}

/** For `catch`: returns undefined if nothing exists at a path, and rethrows any other error. */
export function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}

function shown(path: string): string {
  return path.length > 120 ? `${path.slice(0, 120)}…` : path;
}

export async function makeFolderInside(root: string, path: string): Promise<string> {
  const whole = await pathInside(root, path);
  await mkdir(whole, { recursive: true });
  return whole;
}

/** Returns undefined if the file does not exist. @throws InstallError if it is not a text file, which could not be written back. */
export async function readInside(root: string, path: string): Promise<string | undefined> {
  const whole = await pathInside(root, path);
  const found = await lstat(whole).catch(absent);
  if (!found) return undefined;
  // Reading a pipe might never end.
  if (!found.isFile()) throw new InstallError(`'${path}' exists and is not a file.`);
  if (found.size > LARGEST_FILE) throw new InstallError(`'${path}' is larger than ${LARGEST_FILE} bytes.`);
  const bytes = await readFile(whole);
  if (!isUtf8(bytes)) throw new InstallError(`'${path}' exists and is not UTF-8, so it is left as it is.`);
  return bytes.toString('utf8');
}

/** @throws the same errors as writing a file there, as far as they can be foreseen. */
export async function assertWritable(root: string, path: string): Promise<void> {
  let folder = dirname((await placeOfFile(root, path)).whole);
  while (!existsSync(folder)) folder = dirname(folder);
  await access(folder, constants.W_OK | constants.X_OK);
}

async function placeOfFile(root: string, path: string) {
  const whole = await pathInside(root, path);
  const existing = await lstat(whole).catch(absent);
  if (existing?.isDirectory()) throw new InstallError(`'${shown(path)}' cannot be written: it is a folder.`);
  return { whole, existing };
}

/** Writes atomically, and keeps a file's owner, group and mode. Returns the absolute path. @throws InstallError */
export async function writeFileInside(root: string, path: string, content: string): Promise<string> {
  const { whole, existing } = await placeOfFile(root, path);
  await mkdir(dirname(whole), { recursive: true });
  // In `.hub`, where the next install removes leftovers of a killed one.
  const unfinished = join(await makeFolderInside(root, HUB_FOLDER), `${STAGING}-${randomUUID()}`);
  try {
    await writeFile(unfinished, content, { flag: 'wx', mode: existing ? 0o600 : 0o644, flush: true });
    // Only root can change owners, and some file systems have neither owners nor modes.
    if (existing) await chown(unfinished, existing.uid, existing.gid).catch(() => {});
    if (existing) await chmod(unfinished, existing.mode & 0o777).catch(() => {});
    await rename(unfinished, whole);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  return whole;
}

/** Removes a file or folder, and parents that become empty, up to the root. @throws InstallError */
export async function removeInside(root: string, path: string): Promise<void> {
  await rm(await pathInside(root, path), { recursive: true, force: true });
  try {
    for (const names = namesOf(path).slice(0, -1); names.length > 0; names.pop()) await rmdir(join(root, ...names));
  } catch {
    // The folder is not empty, so it and its parents stay.
  }
}
