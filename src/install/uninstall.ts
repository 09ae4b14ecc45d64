// Takes an entity out of a target: its adapters, launchers, folders, and its entry in the lockfile.
import type { UninstallReport, UninstallRequest } from './contract.ts';
import { collectGarbage, removeIfUnused, removeParts } from './garbage.ts';
import { removeOldLaunchers } from './launchers.ts';
import { lockedEntity } from './lockfile/frozen.ts';
import { EMPTY_LOCKFILE, readLockfile, removeLockfile, withoutEntity, writeLockfile } from './lockfile/lockfile.ts';
import { changeState } from './state.ts';

/** For a caller that has the lock of the target. */
export async function uninstallEntity(request: UninstallRequest, targetDir: string): Promise<UninstallReport> {
  const lockfile = await readLockfile(targetDir);
  const entity = lockedEntity(lockfile, request.id);
  const rest = withoutEntity(lockfile ?? EMPTY_LOCKFILE, entity.id);
  const { removed, kept } = await removeParts(targetDir, entity, { isForced: request.force, others: rest.entities });
  await (rest.entities.length > 0 ? writeLockfile(targetDir, rest) : removeLockfile(targetDir));
  await removeOldLaunchers(targetDir, rest.entities);
  await collectGarbage(targetDir, rest);
  await forget(targetDir, entity.id, removed);
  await removeIfUnused(targetDir);
  return { id: entity.id, target: request.target, removed, kept };
}

async function forget(targetDir: string, uid: string, removed: readonly string[]): Promise<void> {
  await changeState(targetDir, ({ placed, installs, ...state }) => ({
    ...state,
    placed: Object.fromEntries(Object.entries(placed).filter(([path]) => !removed.includes(path))),
    installs: Object.fromEntries(Object.entries(installs).filter(([id]) => id !== uid)),
  }));
}
