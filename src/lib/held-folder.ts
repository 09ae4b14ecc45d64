// A folder that is held open: what is made in it stays in it, whatever is put in the place of its path meanwhile.
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';

export interface HeldFolder {
  /** The folder itself, for paths below it; where the system cannot do that, its path. */
  readonly place: string;
  close(): Promise<void>;
}

const FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** Undefined when the path does not lead there directly, but through a link. Errors of the system are thrown. */
export async function holdFolder(path: string): Promise<HeldFolder | undefined> {
  const handle = await open(path, FLAGS);
  const held = await heldBy(handle, path);
  const found = await readlink(held.place).catch(() => realpath(path));
  if (found === path) return held;
  await held.close();
  return undefined;
}

/**
 * Makes folders below one another, those that are there already included; undefined when one of them is a link, or becomes
 * one. Errors of the system are thrown.
 */
export async function makeFoldersBelow(path: string, names: readonly string[]): Promise<HeldFolder | undefined> {
  let held = await holdFolder(path);
  let whole = path;
  for (const name of names) {
    if (!held) return undefined;
    whole = join(whole, name);
    const next = await makeChild(held, name, whole).finally(held.close);
    held = next;
  }
  return held;
}

async function makeChild({ place }: HeldFolder, name: string, whole: string): Promise<HeldFolder | undefined> {
  await mkdir(join(place, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  try {
    return await heldBy(await open(join(place, name), FLAGS), whole);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // What the system says of a link that was not to be followed; a file is told apart by whoever asks.
    if (code === 'ELOOP' || code === 'EMLINK') return undefined;
    throw error;
  }
}

async function heldBy(handle: FileHandle, path: string): Promise<HeldFolder> {
  const place = `/proc/self/fd/${handle.fd}`;
  const isKnown = await readlink(place).then(
    () => true,
    () => false,
  );
  return { place: isKnown ? place : path, close: () => handle.close() };
}
