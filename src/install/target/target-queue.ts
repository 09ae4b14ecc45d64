// One install at a time in each target, across processes; a few at a time in all.

import { closeSync, lstatSync, openSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { makeFolderInside, writeFileInside } from './files.ts';
import { HUB_FOLDER, STAGING } from './places.ts';
import { assertOwnFolders, unusable } from './target.ts';

export type TargetQueue = <T>(targetDir: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

const LOCK = 'lock';
const IGNORE = '.gitignore';
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

export interface FileLock {
  release(): void;
}

const POLL_MS = 100;
const BUSY = 5;
const FULL = 13;

/**
 * Waits until nobody else has it. The lock is an exclusive transaction of SQLite: the one lock of the operating system
 * that Node reaches on every platform. Rejects when the signal is aborted.
 */
export async function lockFile(path: string, signal: AbortSignal): Promise<FileLock> {
  for (;;) {
    signal.throwIfAborted();
    makeLockFile(path);
    const lock = tryLock(path);
    if (lock) return lock;
    await sleep(POLL_MS, undefined, { signal });
  }
}

/**
 * Made here, because SQLite would follow a link. One that is there already is not opened: closing it again would end the
 * lock that somebody else in this process has on it, as POSIX has it.
 */
function makeLockFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o644));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const found = lstatSync(path);
    const code = found.isDirectory() ? 'EISDIR' : 'ELOOP';
    if (!found.isFile()) throw Object.assign(new Error(`${code}: not a file of its own`), { code });
  }
}

/** Undefined when somebody has it. */
function tryLock(path: string): FileLock | undefined {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // Nothing is ever written, so that no journal is needed: a full disk must not look like a lock that is taken.
    database.exec('pragma journal_mode = memory; begin exclusive');
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    const code = ((error as { errcode?: number }).errcode ?? 0) % 256;
    if (code === BUSY) return undefined;
    throw code === FULL ? Object.assign(new Error('The disk is full', { cause: error }), { code: 'ENOSPC' }) : error;
  }
}
