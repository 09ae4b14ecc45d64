// Digests of files and of whole folders, the same for the same contents.
import { createHash } from 'node:crypto';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { openPlainFile } from './plain-file.ts';

const BUFFER_BYTES = 65_536;
/** Used again and again: a stream leaves one behind for every read, and a large folder tens of megabytes of them. */
const spareBuffers: Buffer[] = [];
/** As many as are in use at once on a busy day; those of a rush are not kept. */
const MOST_SPARE_BUFFERS = 8;
const NO_FILE = 'other';

/** `sha256:…` of one file; a text that is no digest where something else is, which is not read. Links are not followed. */
export async function fileDigest(path: string): Promise<string> {
  const file = await openPlainFile(path);
  if (!file) return NO_FILE;
  const hash = createHash('sha256');
  const buffer = spareBuffers.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, BUFFER_BYTES);
      if (bytesRead === 0) return `sha256:${hash.digest('hex')}`;
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    if (spareBuffers.length < MOST_SPARE_BUFFERS) spareBuffers.push(buffer);
    await file.close();
  }
}

/** What is in a folder and does not count. */
export interface TreeSkips {
  /** Paths below the folder. */
  skip?: readonly string[];
  /** Names, wherever they are. */
  skipNames?: readonly string[];
}

/**
 * `sha256:…` of a folder and everything in it: names, contents, links as they are written, and whether a file may be
 * executed. The same for two folders that hold the same, whenever and by whomever they were made.
 */
export async function treeDigest(folder: string, { skip = [], skipNames = [] }: TreeSkips = {}): Promise<string> {
  const hash = createHash('sha256');
  async function add(relative: string): Promise<void> {
    const names = await readdir(join(folder, relative), { encoding: 'buffer' });
    for (const name of names.sort(Buffer.compare).map(String)) {
      const path = relative === '' ? name : `${relative}/${name}`;
      if (skip.includes(path) || skipNames.includes(name)) continue;
      const whole = join(folder, path);
      const found = await lstat(whole);
      if (found.isDirectory()) {
        hash.update(`folder ${JSON.stringify(path)}\n`);
        await add(path);
      } else if (found.isSymbolicLink()) {
        hash.update(`link ${JSON.stringify(path)} ${JSON.stringify(await readlink(whole))}\n`);
      } else if (!found.isFile()) {
        hash.update(`${NO_FILE} ${JSON.stringify(path)}\n`);
      } else {
        const kind = found.mode & 0o100 ? 'program' : 'file';
        hash.update(`${kind} ${JSON.stringify(path)} ${await fileDigest(whole)}\n`);
      }
    }
  }
  await add('');
  return `sha256:${hash.digest('hex')}`;
}
