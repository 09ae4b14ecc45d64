// Runs one install at a time per target, across processes, and a few at a time overall.
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { InstallError } from '../errors.ts';
import { makeFolderInside, pathInside, writeFileInside } from './files.ts';
import { HUB_FOLDER, IGNORE, LOCK, STAGING } from './places.ts';
import { assertOwnFolders, unusable } from './target.ts';

const POLL_MS = 100;
const SQLITE_BUSY = 5;

export function createTargetQueue(atOnce: number) {
  const limit = pLimit(atOnce);
  return async <T>(targetDir: string, signal: AbortSignal, work: (isNew: boolean) => Promise<T>): Promise<T> => {
    using _lock = await lockTarget(targetDir, signal).catch((error) => {
      throw signal.aborted ? error : unusable(error);
    });
    // The limit applies after the lock, so that waiting for one target does not delay installs into others.
    return await limit(async () => work(await tidy(targetDir)));
  };
}

/** Locks with an exclusive SQLite transaction, the only file lock that Node has on every platform. */
export async function lockTarget(targetDir: string, signal: AbortSignal): Promise<DatabaseSync> {
  await assertOwnFolders(targetDir);
  for (;;) {
    signal.throwIfAborted();
    // Also creates the target itself. A failed install may remove its folder while this one waits.
    await makeFolderInside(targetDir, HUB_FOLDER);
    const path = await pathInside(targetDir, `${HUB_FOLDER}/${LOCK}`);
    const lock = tryLock(path);
    // If the lock can be taken twice, its file was removed in the meantime.
    const second = lock && tryLock(path);
    if (lock && !second) return lock;
    second?.close();
    lock?.close();
    await sleep(POLL_MS, undefined, { signal });
  }
}

function tryLock(path: string): DatabaseSync | undefined {
  const database = new DatabaseSync(path, { timeout: 0, open: false });
  try {
    database.open();
    // Nothing is ever written, so no journal is needed.
    database.exec('pragma journal_mode = memory; begin exclusive');
    return database;
  } catch (error) {
    if (database.isOpen) database.close();
    const isBusy = ((error as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY;
    if (isBusy || !existsSync(dirname(path))) return undefined;
    const what = `'${HUB_FOLDER}/${LOCK}' cannot be locked`;
    throw new InstallError(`${what}: remove it, or make it writable, then install again.`, { cause: error });
  }
}

/** Removes staging folders of a killed install; failures are left for the next one. Returns whether `.hub` is new. */
async function tidy(targetDir: string): Promise<boolean> {
  const hubFolder = join(targetDir, HUB_FOLDER);
  const names = await readdir(hubFolder);
  const left = names.filter((name) => name.startsWith(STAGING));
  await Promise.allSettled(left.map((name) => rm(join(hubFolder, name), { recursive: true, force: true })));
  const isNew = !names.includes(IGNORE);
  if (isNew) await writeFileInside(targetDir, `${HUB_FOLDER}/${IGNORE}`, '*\n');
  return isNew;
}
