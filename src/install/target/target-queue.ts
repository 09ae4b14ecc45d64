// One install at a time in each target, across processes; a few at a time in all.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { type FileLock, lockFile } from '../../lib/file-lock.ts';
import { makeFolderInside, writeFileInside } from '../../lib/files.ts';
import { HUB_FOLDER } from './places.ts';
import { assertOwnFolders, unusable } from './target.ts';

export type TargetQueue = <T>(targetDir: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

const LOCK = 'lock';
const IGNORE = '.gitignore';
export const STAGING = 'staging';
/** Files that were being written when an install was killed. */
const UNFINISHED = /^\.[0-9a-f-]{36}\.unfinished$/;

export function createTargetQueue(atOnce: number): TargetQueue {
  const limit = pLimit(atOnce);
  const last = new Map<string, Promise<unknown>>();

  return async (targetDir, signal, work) => {
    const before = last.get(targetDir);
    const turn = (async () => {
      await before?.catch(() => {});
      const lock = await lockTarget(targetDir, signal).catch((error) => {
        throw error.name === 'AbortError' ? error : unusable(error);
      });
      try {
        // The limit is taken after the lock, so that waiting for one target does not delay installs into others.
        return await limit(work);
      } finally {
        lock.release();
      }
    })();
    last.set(targetDir, turn);
    try {
      return await turn;
    } finally {
      if (last.get(targetDir) === turn) last.delete(targetDir);
    }
  };
}

async function lockTarget(targetDir: string, signal: AbortSignal): Promise<FileLock> {
  await assertOwnFolders(targetDir);
  const hubFolder = await makeFolderInside(targetDir, HUB_FOLDER);
  const lock = await lockFile(join(hubFolder, LOCK), signal);
  try {
    await tidy(targetDir, hubFolder);
    return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Removes what an install left that did not get to its end. What cannot be removed is left for the next install. */
async function tidy(targetDir: string, hubFolder: string): Promise<void> {
  const names = await readdir(hubFolder);
  const left = names.filter((name) => name === STAGING || UNFINISHED.test(name));
  await Promise.allSettled(left.map((name) => rm(join(hubFolder, name), { recursive: true, force: true })));
  if (!names.includes(IGNORE)) await writeFileInside(targetDir, `${HUB_FOLDER}/${IGNORE}`, '*\n');
}
