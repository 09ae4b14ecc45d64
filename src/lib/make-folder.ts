// Creates a folder with its parents.
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Returns the topmost folder that it created, or undefined if something exists at that path. Like `mkdir` with `recursive`, except that
 * it fails in places such as /proc, where that would never return.
 */
export async function makeFolder(folder: string): Promise<string | undefined> {
  const parent = dirname(folder);
  try {
    return await makeOne(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error;
  }
  const topmost = await makeFolder(parent);
  const made = await makeOne(folder);
  return topmost ?? made;
}

/** Returns undefined if it exists; another process may have just created it. */
async function makeOne(folder: string): Promise<string | undefined> {
  try {
    await mkdir(folder);
    return folder;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
}
