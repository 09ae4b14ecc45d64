// A copy of the database, made while it is in use, and checked.
import { open, rename, rm, stat } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { HubError } from '../errors.ts';
import type { Dialect } from './dialects/dialect.ts';

/** `file` has no unfinished copy at any time. @throws HubError when it is the database itself. */
export async function backupDatabase(dialect: Dialect, file: string): Promise<{ bytes: number }> {
  if (!dialect.copyTo) throw new Error(`A ${dialect.name} database cannot be copied to a file from here.`);
  const unfinished = `${file}.unfinished`;
  await spareOwnFiles(dialect, file);
  await spareOwnFiles(dialect, unfinished);
  await rm(unfinished, { force: true });
  // The system says what is wrong with a place; SQLite only that it cannot be opened.
  await (await open(unfinished, 'wx')).close();
  try {
    await dialect.copyTo(unfinished);
    checkCopy(unfinished);
    await flush(unfinished);
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  return { bytes: (await stat(file)).size };
}

/** A hub that has the file open would keep writing to a deleted file. @throws HubError for such a path. */
export async function spareOwnFiles(dialect: Dialect, path: string): Promise<void> {
  if (!(await dialect.isOwnFile?.(path))) return;
  throw new HubError('invalid_request', `${path} is a file of the database itself, which is left alone: name another.`);
}

function checkCopy(file: string): void {
  const copy = new DatabaseSync(file, { readOnly: true });
  try {
    const [row] = copy.prepare('pragma quick_check(1)').all();
    if (row?.quick_check !== 'ok') throw new Error(`The copy is damaged: ${row?.quick_check ?? 'no answer'}.`);
  } finally {
    copy.close();
  }
}

/** Otherwise a machine that fails now may keep the name and lose what it is the name of. */
async function flush(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  await handle.sync().finally(() => handle.close());
}
