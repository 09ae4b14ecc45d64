// Recognizes the files that belong to a SQLite database.
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** Suffixes of SQLite's auxiliary files and of the hub's locks (`-lock-…`). */
const AUXILIARY_SUFFIX = /^-(wal|shm|journal|lock-.*)$/s;

/** Symbolic links are resolved. */
export async function isFileOf(database: string, path: string): Promise<boolean> {
  const [own, given] = await Promise.all([realPathOf(database), realPathOf(path)]);
  return given === own || (given.startsWith(own) && AUXILIARY_SUFFIX.test(given.slice(own.length)));
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
