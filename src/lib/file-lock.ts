// A lock that is a file: for one process at a time, and over when that process is, however it ends.
import { closeSync, lstatSync, openSync, readdirSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

export interface FileLock {
  release(): void;
}

const POLL_MS = 100;
const BUSY = 5;
const FULL = 13;

/**
 * Waits until nobody else has it. The lock is an exclusive transaction of SQLite: the one lock of the operating system
 * that Node reaches on every platform. The path may lead through a folder that is held open. Rejects when the signal is
 * aborted.
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
    if (!found.isFile()) throw noLock(found.isDirectory() ? 'EISDIR' : 'ELOOP');
  }
}

function noLock(code: 'EISDIR' | 'ELOOP'): Error {
  return Object.assign(new Error(`${code}: not a file of its own`), { code });
}

/** Of a file that is there; undefined when somebody has it. */
function tryLock(path: string): FileLock | undefined {
  const address = pathToFileURL(path);
  // Never made by SQLite, which finds its own way there.
  address.searchParams.set('mode', 'rw');
  const database = new DatabaseSync(address, { timeout: 0 });
  try {
    // Nothing is ever written, so that no journal is needed: a full disk must not look like a lock that is taken.
    database.exec('pragma journal_mode = memory; begin exclusive');
    if (!isOpenHere(path)) throw noLock('ELOOP');
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    const code = ((error as { errcode?: number }).errcode ?? 0) % 256;
    if (code === BUSY) return undefined;
    throw code === FULL ? Object.assign(new Error('The disk is full', { cause: error }), { code: 'ENOSPC' }) : error;
  }
}

/**
 * SQLite turns a path through a held folder into a plain one, where somebody may have put a link meanwhile: then it has
 * locked another file than this one. Not found out by opening it, which would end the lock; true where the system does
 * not tell.
 */
function isOpenHere(path: string): boolean {
  const open = openFiles();
  const wanted = lstatSync(path, { bigint: true });
  return open === undefined || open.some((file) => file?.dev === wanted.dev && file.ino === wanted.ino);
}

function openFiles() {
  try {
    return readdirSync('/proc/self/fd').map((handle) =>
      statSync(`/proc/self/fd/${handle}`, { bigint: true, throwIfNoEntry: false }),
    );
  } catch {
    return undefined;
  }
}
