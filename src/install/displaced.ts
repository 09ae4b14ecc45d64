// Packages of other entities that are not in place any more, because what was installed shares one environment with them.
import { jsonDigest } from '../lib/json-digest.ts';
import type { InstalledArtifact, InstallerKind, LockedResult } from './artifacts/artifact-installer.ts';
import { installerKindOf } from './artifacts/installer-kind.ts';
import { readNpmLock } from './artifacts/npm-lock.ts';
import type { LockedArtifact, Lockfile } from './contract.ts';
import { isSameEntity } from './lockfile.ts';

export interface Displaced {
  /** Whose it is. */
  id: string;
  artifact: LockedArtifact;
}

interface Newcomer {
  kind: InstallerKind;
  uid: string;
  installed: InstalledArtifact;
}

type IsDisplaced = (artifact: LockedArtifact, installed: InstalledArtifact, targetDir: string) => Promise<boolean>;

/** Only these have an environment in common; anything else has a place of its own. */
const IS_DISPLACED: Partial<Record<InstallerKind, IsDisplaced>> = {
  pypi: async (artifact, installed) => {
    const versions = pythonVersions(installed);
    return [...pythonVersions(artifact)].some(([name, version]) => (versions.get(name) ?? version) !== version);
  },
  npm: async ({ path, resolved, integrity, dependencies = [] }, _installed, targetDir) => {
    const name = (path ?? '').replace(/^node_modules\//, '');
    // What npm does not know was not there before either.
    const found = await readNpmLock(targetDir, name).catch(() => undefined);
    if (!found) return false;
    const isSame = `${name}@${found.version}` === resolved && found.integrity === integrity;
    return !isSame || jsonDigest(found.dependencies) !== jsonDigest(dependencies);
  },
};

/** As far as the lockfile tells what was in place. */
export async function findDisplaced(
  lockfile: Lockfile | undefined,
  { kind, uid, installed }: Newcomer,
  targetDir: string,
): Promise<Displaced[]> {
  const isDisplaced = IS_DISPLACED[kind];
  if (!isDisplaced || installed.path === null) return [];
  const displaced: Displaced[] = [];
  for (const { id, artifacts } of lockfile?.entities ?? []) {
    if (isSameEntity(id, uid)) continue;
    for (const artifact of artifacts) {
      const mayBe = artifact.ok && artifact.path !== null && installerKindOf(artifact.kind, artifact.spec) === kind;
      if (mayBe && (await isDisplaced(artifact, installed, targetDir))) displaced.push({ id, artifact });
    }
  }
  return displaced;
}

/** What a step tells of it. */
export function displacedExtra(displaced: readonly Displaced[], resolved: string | null): Record<string, unknown> {
  if (displaced.length === 0) return {};
  const ids = [...new Set(displaced.map(({ id }) => id))];
  const lost = displaced.map(({ id, artifact }) => `${artifact.resolved} of ${id}`).join(', ');
  const warning = `With ${resolved}, this target does not have ${lost} any more as the lockfile had it, because both share one environment. Install ${ids.join(', ')} again, or into another target.`;
  return { displaced: displaced.map(({ id, artifact }) => ({ id, resolved: artifact.resolved })), warning };
}

/** The lockfile says of each that it is not in place, and by whom. */
export function withoutDisplaced(lockfile: Lockfile, displaced: readonly Displaced[], uid: string): Lockfile {
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

function pythonVersions({ resolved, dependencies = [] }: LockedResult): Map<string, string> {
  const pinned = [resolved, ...dependencies.map((each) => each.resolved)];
  return new Map(pinned.flatMap((each) => (each ? [each.split('==') as [string, string]] : [])));
}
