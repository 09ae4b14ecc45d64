// One install at a time for each target, here and in other processes; a few at a time altogether.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { type FileLock, lockFile } from '../lib/file-lock.ts';
import { holdFolderInside, writeFileInside } from '../lib/files.ts';
import { type HeldFolder, holdBelow, removeBelow } from '../lib/held-folder.ts';
import { putBackInside } from '../lib/replace-inside.ts';
import { Destination } from './artifacts/destination.ts';
import { HUB_FOLDER } from './places.ts';
import { unusable } from './target.ts';

export type TargetQueue = <T>(targetDir: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

const LOCK = 'lock';
const IGNORE = '.gitignore';
const UUID = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';
/** What steps and half-written files are called, and nothing that a person would make. */
const UNFINISHED = new RegExp(`^(scratch-${UUID}|\\.${UUID}\\.unfinished)$`);

/** What is in an environment, and one as a whole. */
const OF_PACKAGES = /^(?:[^./][^/]*\/)*node_modules\/|^\.venv$/;

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

/** The folder is held for as long as something is looked for or removed in it: a link in its place must lead nowhere. */
async function lockTarget(targetDir: string, signal: AbortSignal): Promise<FileLock> {
  const hubFolder = await holdFolderInside(targetDir, HUB_FOLDER);
  try {
    const lock = await lockFile(join(hubFolder.place, LOCK), signal);
    try {
      await tidy(targetDir, hubFolder);
      return lock;
    } catch (error) {
      lock.release();
      throw error;
    }
  } finally {
    await hubFolder.close();
  }
}

/**
 * Whoever has the lock is alone here: what installs make in the folder was left by one that did not get to the end. What people
 * keep there stays. What cannot be put back or removed is in nobody's way, and stays for the next one to try again.
 */
async function tidy(targetDir: string, hubFolder: HeldFolder): Promise<void> {
  const names = await readdir(hubFolder.place);
  const left = names.filter((name) => UNFINISHED.test(name));
  await Promise.allSettled(
    left.map(async (name) => {
      await putBack(targetDir, hubFolder, name);
      await removeBelow(hubFolder, name);
    }),
  );
  if (!names.includes(IGNORE)) await writeFileInside(targetDir, `${HUB_FOLDER}/${IGNORE}`, '*\n');
}

/** An install that was killed while it replaced a folder left the old one here, and nothing in its place. */
async function putBack(targetDir: string, hubFolder: HeldFolder, name: string): Promise<void> {
  const left = await holdBelow(hubFolder, name).catch(() => undefined);
  // Only places of artifacts: what is in here may have come with the target, and must not get into its repository.
  const isPlace = (path: string) => Destination.safeParse(path).data === path || OF_PACKAGES.test(path);
  await (left && putBackInside(targetDir, left, isPlace).finally(left.close));
}
