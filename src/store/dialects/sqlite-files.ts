// Recognizes the files that belong to a SQLite database.
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** Suffixes of SQLite's auxiliary files and of the hub's locks (`-lock-…`). */
const AUXILIARY_SUFFIX = /^-(wal|shm|journal|lock-.*)$/s;
const FILE_SUFFIXES = ['', '-wal', '-shm', '-journal'];

/** Compares files, not names, so that links are recognized. */
export async function isFileOf(database: string, path: string): Promise<boolean> {
  const [own, given] = await Promise.all([realPathOf(database), realPathOf(path)]);
  if (given === own || (given.startsWith(own) && AUXILIARY_SUFFIX.test(given.slice(own.length)))) return true;
  // Two names may refer to the same file without a symbolic link: on case-insensitive filesystems, or through a hard link.
  const found = await identityOf(path);
  if (found === undefined) return false;
  const files = await Promise.all(FILE_SUFFIXES.map((name) => identityOf(`${own}${name}`)));
  return files.includes(found);
}

/** Resolves all links, even if the file itself does not exist yet. */
async function realPathOf(path: string): Promise<string> {
  const whole = resolve(path);
  try {
    return await realpath(whole);
  } catch {
    const folder = dirname(whole);
    return folder === whole ? whole : join(await realPathOf(folder), basename(whole));
  }
}

async function identityOf(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found && `${found.dev}:${found.ino}`;
}
