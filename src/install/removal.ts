// Removes an entity from a target, and everything that no other entity in the lockfile needs.
import { existsSync } from 'node:fs';
import { glob, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { HubError } from '../errors.ts';
import { type RemovalOutcome, type RemovalRules, removalFault, removeAdapter } from './adapters/locked-adapter.ts';
import { findWork } from './artifacts/git/person-work.ts';
import { vendorTree } from './artifacts/place.ts';
import type { InstallJob } from './build-artifacts.ts';
import {
  LOCKFILE_NAME,
  type LockedAdapter,
  type LockedArtifact,
  type LockedEntity,
  type Lockfile,
  type UninstallReport,
  type UninstallRequest,
} from './contract.ts';
import { launcherPath, removeOldLaunchers } from './launchers.ts';
import { EMPTY_LOCKFILE, lockedEntity, readLockfile, withoutEntity, writeLockfile } from './lockfile/lockfile.ts';
import { pathInside, removeInside } from './target/files.ts';
import { HUB_FOLDER, IGNORE, LOCK, STAGING } from './target/places.ts';

/** The caller must hold the target's lock. */
export async function uninstallEntity(request: UninstallRequest, targetDir: string): Promise<UninstallReport> {
  const lockfile = await readLockfile(targetDir);
  const entity = lockedEntity(lockfile, request.id);
  const rest = withoutEntity(lockfile ?? EMPTY_LOCKFILE, entity.id);
  for (const adapter of entity.adapters) {
    const fault = await removalFault(targetDir, adapter, request.force);
    if (fault) throw new HubError('invalid_request', `'${entity.id}' was not uninstalled. ${fault}`);
  }
  const parts = await removeParts(targetDir, entity, { isForced: request.force, others: rest.entities });
  const isLast = rest.entities.length === 0;
  await (isLast ? removeInside(targetDir, LOCKFILE_NAME) : writeLockfile(targetDir, rest));
  await collectGarbage(targetDir, rest);
  await removeUnused(targetDir);
  const launchers = (entity.launchers ?? []).map(({ name }) => launcherPath(name));
  const removed = [...parts.removed, ...launchers, ...(isLast ? [LOCKFILE_NAME] : [])];
  return { id: entity.id, target: request.target, ...parts, removed };
}

/** Removes launchers and environments below `.hub` that the lockfile does not list, with their empty parents. */
export async function collectGarbage(targetDir: string, { entities }: Lockfile): Promise<void> {
  await removeOldLaunchers(targetDir, entities);
  for (const path of await unusedEnvironments(targetDir, entities)) await removeInside(targetDir, path);
}

async function unusedEnvironments(targetDir: string, entities: readonly Pick<LockedEntity, 'artifacts'>[]) {
  const named = new Set(entities.flatMap(({ artifacts }) => artifacts.map(({ path }) => path)));
  const found = await Array.fromAsync(glob(`${HUB_FOLDER}/{python,npm}/*/*`, { cwd: targetDir }));
  return found.filter((path) => !named.has(path)).sort();
}

/** What an install would remove; `folders` are those of the planned artifacts, as far as they are known. */
export async function previewRemoval(
  { targetDir, plan, known, others }: Pick<InstallJob, 'targetDir' | 'plan' | 'known' | 'others'>,
  folders: readonly string[],
): Promise<string[]> {
  const { adapters = [], artifacts = [] } = known ?? {};
  const earlier = {
    adapters: adapters.filter(({ path }) => !plan.adapters.some((each) => each.path === path)),
    artifacts: artifacts.filter(({ path }) => !folders.includes(path ?? '')),
  };
  const { removed } = await removeParts(targetDir, earlier, { isForced: false, others, isDryRun: true });
  const needed = artifacts.filter(({ path }) => folders.includes(path ?? ''));
  return [...removed, ...(await unusedEnvironments(targetDir, [{ artifacts: needed }, ...others]))];
}

/** Removes adapters and vendored folders. `collectGarbage` removes environments below `.hub`. */
export async function removeParts(
  targetDir: string,
  { adapters, artifacts }: Pick<LockedEntity, 'adapters' | 'artifacts'>,
  { others, ...rules }: RemovalRules & { others: readonly LockedEntity[] },
): Promise<Pick<UninstallReport, 'removed' | 'edited' | 'kept' | 'work'>> {
  const paths: Record<RemovalOutcome, string[]> = { removed: [], edited: [], changed: [], absent: [] };
  // Two entities may share a configuration entry or a file.
  const isShared = (adapter: LockedAdapter) =>
    others.some((other) => other.adapters.some((each) => each.path === adapter.path && each.entry === adapter.entry));
  for (const adapter of adapters) {
    if (!isShared(adapter)) paths[await removeAdapter(targetDir, adapter, rules)].push(adapter.path);
  }
  for (const artifact of artifacts) paths[await removeVendored(targetDir, artifact, rules)].push(artifact.path ?? '');
  const { removed, edited, changed: kept } = paths;
  const work: Record<string, string> = {};
  for (const path of kept) {
    const found = await findWork(join(targetDir, path, '.git'));
    if (found) work[path] = found;
  }
  return { removed, edited, kept, work };
}

/** Removes a checkout or an archive only if it is unchanged. */
async function removeVendored(targetDir: string, { path, tree }: LockedArtifact, rules: RemovalRules) {
  if (path === null || tree === undefined) return 'absent';
  const found = await vendorTree(await pathInside(targetDir, path)).catch(() => undefined);
  if (found === undefined) return 'absent';
  if (found !== tree && !rules.isForced) return 'changed';
  if (!rules.isDryRun) await removeInside(targetDir, path);
  return 'removed';
}

/** Removes unfinished files, and `.hub` if nothing is installed. With `isInVain`, also removes an otherwise empty `.hub`. */
export async function removeUnused(targetDir: string, isInVain = false): Promise<void> {
  const folder = join(targetDir, HUB_FOLDER);
  const found: string[] = await readdir(folder).catch(() => []);
  const isEmpty = found.every((name) => [IGNORE, LOCK, STAGING].includes(name));
  const isUsed = existsSync(join(targetDir, LOCKFILE_NAME)) && !(isInVain && isEmpty);
  const names = isUsed ? [STAGING] : found;
  // The lock is removed last, because other installs wait for it.
  for (const name of names.toSorted((a, b) => Number(a === LOCK) - Number(b === LOCK)))
    await rm(join(folder, name), { recursive: true, force: true }).catch(() => {});
  if (!isUsed) await rmdir(folder).catch(() => {});
}
