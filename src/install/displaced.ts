// Packages of other entities that are not in place any more, because what was installed shares one environment with them.
import { jsonDigest } from '../lib/json-digest.ts';
import type { InstallerKind } from './artifacts/artifact-installer.ts';
import { installerKindOf } from './artifacts/installer-kind.ts';
import { readNpmLock } from './artifacts/npm-lock.ts';
import { installedVersions } from './artifacts/pypi-environment.ts';
import type { LockedArtifact, Lockfile } from './contract.ts';
import { isSameEntity } from './lockfile.ts';

export interface Neighbour {
  /** Whose it is. */
  id: string;
  artifact: LockedArtifact;
}

type AreInPlace = (neighbours: readonly Neighbour[], targetDir: string) => Promise<Neighbour[]>;

/** Only these have an environment in common; anything else has a place of its own. */
const IN_PLACE: Partial<Record<InstallerKind, AreInPlace>> = {
  async pypi(neighbours, targetDir) {
    const versions = await installedVersions(targetDir);
    return neighbours.filter(({ artifact: { resolved, dependencies = [] } }) =>
      [resolved, ...dependencies.map((each) => each.resolved)].every((each) => {
        const [name = '', version] = (each ?? '').split('==');
        return versions.get(name) === version;
      }),
    );
  },
  async npm(neighbours, targetDir) {
    const found = await Promise.all(neighbours.map(({ artifact }) => isNpmInPlace(artifact, targetDir)));
    return neighbours.filter((_, index) => found[index]);
  },
};

async function isNpmInPlace(
  { path, resolved, integrity, dependencies = [] }: LockedArtifact,
  targetDir: string,
): Promise<boolean> {
  const name = (path ?? '').replace(/^node_modules\//, '');
  const found = await readNpmLock(targetDir, name).catch(() => undefined);
  if (!found) return false;
  const isSame = `${name}@${found.version}` === resolved && found.integrity === integrity;
  return isSame && jsonDigest(found.dependencies) === jsonDigest(dependencies);
}

/**
 * Packages of others in the environment that is about to be changed, as the lockfile has them. What was not there before
 * cannot be displaced: whoever has only the lockfile of a project installs its entities one after the other.
 */
export async function neighboursInPlace(
  lockfile: Lockfile | undefined,
  { kind, uid }: { kind: InstallerKind; uid: string },
  targetDir: string,
): Promise<Neighbour[]> {
  const neighbours = (lockfile?.entities ?? [])
    .filter(({ id }) => !isSameEntity(id, uid))
    .flatMap(({ id, artifacts }) => artifacts.map((artifact) => ({ id, artifact })))
    .filter(({ artifact: { ok, path, kind: written, spec } }) => ok && path && installerKindOf(written, spec) === kind);
  return neighbours.length === 0 ? [] : stillInPlace(neighbours, kind, targetDir);
}

/** Those that are gone, or others than they were. An install that failed may have cost them their environment too. */
export async function findDisplaced(
  before: readonly Neighbour[],
  kind: InstallerKind,
  targetDir: string,
): Promise<Neighbour[]> {
  if (before.length === 0) return [];
  const after = await stillInPlace(before, kind, targetDir);
  return before.filter((each) => !after.includes(each));
}

async function stillInPlace(neighbours: readonly Neighbour[], kind: InstallerKind, targetDir: string) {
  return (await IN_PLACE[kind]?.(neighbours, targetDir)) ?? [];
}

/** What a step tells of it; `what` was installed, or was to be. */
export function displacedExtra(displaced: readonly Neighbour[], what: string): Record<string, unknown> {
  if (displaced.length === 0) return {};
  const ids = [...new Set(displaced.map(({ id }) => id))];
  const lost = displaced.map(({ id, artifact }) => `${artifact.resolved} of ${id}`).join(', ');
  const warning = `With ${what}, this target does not have ${lost} any more as the lockfile had it, because both share one environment. Install ${ids.join(', ')} again, or into another target.`;
  return { displaced: displaced.map(({ id, artifact }) => ({ id, resolved: artifact.resolved })), warning };
}

/** The lockfile says of each that it is not in place, and by whom. */
export function withoutDisplaced(lockfile: Lockfile, displaced: readonly Neighbour[], uid: string): Lockfile {
  if (displaced.length === 0) return lockfile;
  const isGone = (artifact: LockedArtifact) => displaced.some((each) => each.artifact === artifact);
  const entities = lockfile.entities.map((entity) => ({
    ...entity,
    artifacts: entity.artifacts.map((artifact) =>
      isGone(artifact) ? { ...artifact, ok: false, displaced_by: uid } : artifact,
    ),
  }));
  return { ...lockfile, entities };
}
