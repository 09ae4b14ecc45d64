// One install at a time for each target, here and in other processes; a few at a time altogether.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { type FileLock, lockFile } from '../lib/file-lock.ts';
import { makeFolderInside, pathInside, writeFileInside } from '../lib/files.ts';
import { HUB_FOLDER } from './places.ts';
import { unusable } from './target.ts';

export type TargetQueue = <T>(targetDir: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

const LOCK = `${HUB_FOLDER}/lock`;

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
        // Only now: whoever waits for a target must not keep others from theirs.
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
  await makeFolderInside(targetDir, HUB_FOLDER);
  const lock = await lockFile(await pathInside(targetDir, LOCK), signal);
  try {
    await tidy(targetDir);
    return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Whoever has the lock is alone here: what else is in the folder was left by somebody who did not get to the end. */
async function tidy(targetDir: string): Promise<void> {
  const folder = await pathInside(targetDir, HUB_FOLDER);
  const names = await readdir(folder);
  const left = names.filter((name) => name !== 'lock' && name !== '.gitignore');
  await Promise.all(left.map((name) => rm(join(folder, name), { recursive: true, force: true })));
  if (!names.includes('.gitignore')) await writeFileInside(targetDir, `${HUB_FOLDER}/.gitignore`, '*\n');
}
