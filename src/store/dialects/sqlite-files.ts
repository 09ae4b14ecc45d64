// The files that a SQLite database is kept in, and whether a path leads to one of them.
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** What SQLite keeps beside the file itself, and the hub's locks (`-lock-…`). */
const BESIDE = /^-(wal|shm|journal|lock-.*)$/s;
const BESIDE_NAMES = ['', '-wal', '-shm', '-journal'];

/** Compares files, not names, so that links are recognized. */
export async function isFileOf(database: string, path: string): Promise<boolean> {
  const [own, given] = await Promise.all([placeOf(database), placeOf(path)]);
  if (given === own || (given.startsWith(own) && BESIDE.test(given.slice(own.length)))) return true;
  // Two names may refer to the same file without a symbolic link: on case-insensitive filesystems, or through a hard link.
  const found = await identityOf(path);
  if (found === undefined) return false;
  const files = await Promise.all(BESIDE_NAMES.map((name) => identityOf(`${own}${name}`)));
  return files.includes(found);
}

/** With all links followed, also of a file that is not there yet. */
async function placeOf(path: string): Promise<string> {
  const whole = resolve(path);
  try {
    return await realpath(whole);
  } catch {
    const folder = dirname(whole);
    return folder === whole ? whole : join(await placeOf(folder), basename(whole));
  }
}

async function identityOf(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found && `${found.dev}:${found.ino}`;
}
