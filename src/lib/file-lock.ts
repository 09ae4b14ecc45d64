// A lock that is a file: for one process at a time, and over when that process is, however it ends.
import { closeSync, lstatSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

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
  makeLockFile(path);
  for (;;) {
    signal.throwIfAborted();
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
    if (!found.isFile()) throw noLock(found.isDirectory() ? 'EISDIR' : 'ELOOP');
  }
}

function noLock(code: 'EISDIR' | 'ELOOP'): Error {
  return Object.assign(new Error(`${code}: not a file of its own`), { code });
}

function tryLock(path: string): FileLock | undefined {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // Nothing is ever written, so that no journal is needed: a full disk must not look like a lock that is taken.
    database.exec('pragma journal_mode = off; begin exclusive');
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    const code = ((error as { errcode?: number }).errcode ?? 0) % 256;
    if (code === BUSY) return undefined;
    throw code === FULL ? Object.assign(new Error('The disk is full', { cause: error }), { code: 'ENOSPC' }) : error;
  }
}
