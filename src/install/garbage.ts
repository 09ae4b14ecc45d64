// Removes what no entity of a lockfile needs any longer.
import { readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeInside } from '../lib/files.ts';
import { pathInside } from '../lib/path-inside.ts';
import { removeAdapter } from './adapters/locked-adapter.ts';
import { vendorTree } from './artifacts/place.ts';
import {
  LOCKFILE_NAME,
  type LockedAdapter,
  type LockedArtifact,
  type LockedEntity,
  type Lockfile,
} from './contract.ts';
import { HUB_FOLDER } from './target/places.ts';

const AREAS = ['python', 'npm'];

/** Removes environments below `.hub` that the lockfile does not name, with their empty parents. */
export async function collectGarbage(targetDir: string, { entities }: Lockfile): Promise<void> {
  const named = new Set(entities.flatMap(({ artifacts }) => artifacts.map(({ path }) => path)));
  for (const area of AREAS) {
    const folder = await pathInside(targetDir, `${HUB_FOLDER}/${area}`);
    for (const name of await readdir(folder).catch(() => [])) {
      for (const pin of await readdir(join(folder, name)).catch(() => [])) {
        const isNamed = named.has(`${HUB_FOLDER}/${area}/${name}/${pin}`);
        if (!isNamed) await rm(join(folder, name, pin), { recursive: true, force: true });
      }
      await rmdir(join(folder, name)).catch(() => {});
    }
  }
}

/** Paths relative to the target. */
export interface Removed {
  removed: string[];
  /** Changed since they were installed, so they stay. */
  kept: string[];
}

/** Removes adapters and vendored folders. Environments below `.hub` are collected. */
export async function removeParts(
  targetDir: string,
  { adapters, artifacts }: Pick<LockedEntity, 'adapters' | 'artifacts'>,
  { isForced, others }: { isForced: boolean; others: readonly LockedEntity[] },
): Promise<Removed> {
  const result: Removed = { removed: [], kept: [] };
  const note = (path: string | null, outcome: 'removed' | 'changed' | 'absent') => {
    if (path === null || outcome === 'absent') return;
    (outcome === 'removed' ? result.removed : result.kept).push(path);
  };
  // Two entities may share an entry of a configuration, or have the very same file.
  const isShared = (adapter: LockedAdapter) =>
    others.some((other) => other.adapters.some((each) => each.path === adapter.path && each.entry === adapter.entry));
  for (const adapter of adapters) {
    if (!isShared(adapter)) note(adapter.path, await removeAdapter(targetDir, adapter));
  }
  for (const artifact of artifacts) note(artifact.path, await removeVendored(targetDir, artifact, isForced));
  return result;
}

/** A checkout or an archive is removed only if it is as it was installed. */
async function removeVendored(targetDir: string, { path, tree }: LockedArtifact, isForced: boolean) {
  if (path === null || tree === undefined) return 'absent';
  const found = await vendorTree(await pathInside(targetDir, path)).catch(() => undefined);
  if (found === undefined) return 'absent';
  if (found !== tree && !isForced) return 'changed';
  await removeInside(targetDir, path);
  return 'removed';
}

/** A target in which nothing is installed gets no `.hub`. */
export async function removeIfUnused(targetDir: string): Promise<void> {
  const names: string[] = await readdir(targetDir).catch(() => []);
  if (names.includes(LOCKFILE_NAME)) return;
  await rm(join(targetDir, HUB_FOLDER), { recursive: true, force: true }).catch(() => {});
}
