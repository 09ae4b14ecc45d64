// Files that others may have put there, opened only when they are files: a pipe would never come to an end.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Without waiting for whoever is at the other end of a pipe, which would also hold one of few threads. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** Undefined when something else is there: a folder, a pipe, a socket, a device. Errors of the system are thrown, links included. */
export async function openPlainFile(path: string): Promise<FileHandle | undefined> {
  const file = await open(path, FLAGS).catch((error: NodeJS.ErrnoException) => {
    // What the system says of a socket, and of a device that is not there.
    if (error.code === 'ENXIO' || error.code === 'ENODEV') return undefined;
    throw error;
  });
  if (!file) return undefined;
  const isFile = await file.stat().then(
    (found) => found.isFile(),
    () => false,
  );
  if (isFile) return file;
  await file.close();
  return undefined;
}

/** What is in such a file; undefined when something else is there. */
async function readPlainFile(path: string): Promise<Buffer | undefined> {
  const file = await openPlainFile(path);
  try {
    return await file?.readFile();
  } finally {
    await file?.close();
  }
}

/** The same as text, for what is not written back. */
export async function readPlainText(path: string): Promise<string | undefined> {
  return (await readPlainFile(path))?.toString('utf8');
}
