// Copies the database to a file while it is in use, and checks the copy.
import { open, rename, rm, stat } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { HubError } from '../errors.ts';
import type { Dialect } from './dialects/dialect.ts';

/** `file` never contains an incomplete copy. @throws HubError when it is the database itself. */
export async function backupDatabase(dialect: Dialect, file: string): Promise<{ bytes: number }> {
  if (!dialect.copyTo) throw new Error(`A ${dialect.name} database cannot be copied to a file from here.`);
  const unfinished = `${file}.unfinished`;
  await assertNotOwnFile(dialect, file);
  await assertNotOwnFile(dialect, unfinished);
  await rm(unfinished, { force: true });
  // The operating system reports what is wrong with the path; SQLite only reports that it cannot open it.
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

/** Overwriting a database file would leave the hub writing to a deleted file. @throws HubError for such a path. */
async function assertNotOwnFile(dialect: Dialect, path: string): Promise<void> {
  if (!(await dialect.isOwnFile?.(path))) return;
  throw new HubError('invalid_request', `${path} belongs to the database itself. Choose another path.`);
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

/** Without this, a power failure could keep the new name but lose the content. */
async function flush(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  await handle.sync().finally(() => handle.close());
}
