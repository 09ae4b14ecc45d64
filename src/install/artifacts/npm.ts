// Packages of npm: resolved and checked by its lockfile first, then installed into the target without running their scripts.
import { mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import semver from 'semver';
import { shownAddress } from '../../lib/secret-address.ts';
import { treeKey } from '../known-trees.ts';
import {
  type ArtifactInstaller,
  type InstallContext,
  InstallError,
  type InstalledArtifact,
} from './artifact-installer.ts';
import { checkSameDependencies } from './locked.ts';
import { bringIn, findChanges, isBrought, type NpmChanges } from './npm-changes.ts';
import { leftWarning } from './npm-left.ts';
import { findUnregistered, isAllFrom, type NpmResolution, readNpmLock } from './npm-lock.ts';
import { checkNpmPlaces, HIDDEN_LOCK, PROJECT_FILES } from './npm-places.ts';
import { inNoRegistry, isRemoteRefused, type Npm, npmIn } from './npm-program.ts';
import { assertProjectInside, copyProject } from './npm-project.ts';
import { rangeWarning } from './npm-range.ts';
import { findRegistries, guarded } from './npm-registry.ts';
import { MODULES, makeSkeleton, type Skeleton } from './npm-skeleton.ts';
import { NpmSpec } from './npm-spec.ts';
import { dependencyTrees, findUnproven } from './npm-trees.ts';

export const npmInstaller: ArtifactInstaller<NpmSpec> = {
  step: 'npm.install',
  spec: NpmSpec,
  command: (spec) =>
    `npm install --ignore-scripts --save-exact ${spec.registry_url ? `--registry=${shownAddress(spec.registry_url)} ` : ''}-- ${spec.package}@${spec.version}`,

  install,
};

/** npm works on a copy, from which the hub brings in what is new. */
async function install(spec: NpmSpec, context: InstallContext): Promise<InstalledArtifact> {
  const { targetDir, workDir } = context;
  await checkNpmPlaces(spec.package, targetDir);
  const wanted = context.locked ? lockedVersion(spec, context.locked.resolved) : spec.version;
  // npm takes the name of its folder for that of a project that has none.
  const dir = join(workDir, 'project', basename(targetDir));
  await mkdir(dir, { recursive: true });
  const project = await copyProject(targetDir, dir);
  const skeleton = await makeSkeleton(dir, context);
  const registries = await findRegistries(spec, context);
  const npm = await npmIn(dir, { spec, registries }, context);
  await resolve([`${spec.package}@${wanted}`, ...lockedBeside(context)], npm, async () => {
    const isGuarded = { ...registries, ...(await guarded(registries, context)) };
    return npmIn(dir, { spec, registries: isGuarded }, context);
  });
  const resolution = await readNpmLock(dir, spec.package);
  if (await findUnregistered(dir, spec.package)) throw new InstallError(inNoRegistry(spec.package));
  // Again, as npm reads it: it understands more than JSON, and other files that lead out.
  await assertProjectInside(dir);
  checkResolution(spec, resolution, context);
  const unproven = await findUnproven(spec.package, dir, context);
  // npm takes a tarball beside the path of its registry for one at any address, also where the registry named it.
  const isAllOurs = await isAllFrom(registries.addresses, dir);
  const changes = await fetchAll(unproven.paths, skeleton, () =>
    npm('install', `--allow-remote=${isAllOurs ? 'all' : 'root'}`, '--no-package-lock-only'),
  );
  const left = new Map([...unproven.unknown].filter(([path]) => !isBrought(path, changes)));
  const trees = await checkedTrees(spec.package, { dir, proven: unproven.proven, changes, left }, context);
  await bringIn(changes, skeleton, context, project.bringIn);
  const { version, integrity, dependencies } = resolution;
  const path = `${MODULES}/${spec.package}`;
  const range = await rangeWarning(spec.package, project.description, context);
  const warning = [range.warning, leftWarning(left)].filter(Boolean).join(' ');
  return {
    resolved: `${spec.package}@${version}`,
    integrity,
    dependencies,
    trees,
    path,
    ...(left.has(path) ? { isUnchecked: true } : {}),
    files: PROJECT_FILES,
    extra: {
      tool: 'npm',
      version,
      ...(unproven.changed.length > 0 ? { repaired: unproven.changed } : {}),
      ...(changes.removed.length > 0 ? { removed: changes.removed } : {}),
      ...(warning ? { warning } : {}),
    },
  };
}

/** Writes npm's lockfile. Packages that have others in their archives are found out by `openly`, and all others from elsewhere refused again later. */
async function resolve(packages: readonly string[], npm: Npm, openly: () => Promise<Npm>): Promise<void> {
  const lock = ['--package-lock-only', '--', ...packages];
  try {
    await npm('install', '--allow-remote=root', ...lock);
  } catch (error) {
    if (!isRemoteRefused(error)) throw error;
    const again = await openly();
    await again('install', '--allow-remote=all', ...lock).catch(() => {
      throw error;
    });
  }
}

const MOST_TURNS = 5;

/** What npm finds at none of these paths, it fetches. */
async function fetchAll(absent: readonly string[], skeleton: Skeleton, npm: () => Promise<void>): Promise<NpmChanges> {
  let paths = absent;
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    // The last is written by a run before as if it had installed something: npm would believe it.
    for (const path of [...paths, HIDDEN_LOCK]) await rm(join(skeleton.dir, path), { recursive: true, force: true });
    await npm();
    const changes = await findChanges(skeleton);
    if (changes.hollow.length === 0) return changes;
    paths = changes.hollow;
  }
  throw new InstallError(
    'npm does not fetch what is inside of a package that it replaces: remove node_modules and install again.',
  );
}

interface FoundTrees {
  dir: string;
  proven: ReadonlyMap<string, string>;
  changes: NpmChanges;
  /** Of which nobody knows whether they are the package. */
  left: ReadonlyMap<string, string>;
}

/** Of what the package needs. @throws InstallError when the lockfile says something else of one. */
async function checkedTrees(name: string, found: FoundTrees, { knownTrees, locked }: InstallContext) {
  const trees = await dependencyTrees(name, found.dir, {
    before: ({ path }) => (isBrought(path, found.changes) ? undefined : found.proven.get(path)),
    isUnknown: ({ path }) => found.left.has(path),
    whenAbsent: (place) => knownTrees?.get(treeKey(place)),
  });
  const other = Object.keys(trees).find((each) => (locked?.trees?.[each] ?? trees[each]) !== trees[each]);
  if (other !== undefined)
    throw new InstallError(
      `The files of ${other} are others than in the lockfile: install without frozen, which locks them.`,
    );
  return trees;
}

function lockedVersion(spec: NpmSpec, resolved: string | null): string {
  const prefix = `${spec.package}@`;
  const version = resolved?.startsWith(prefix) ? resolved.slice(prefix.length) : undefined;
  if (version === undefined) throw new InstallError(`The lockfile says ${resolved}, and the manifest ${spec.package}.`);
  if (!isVersionOf(spec, version))
    throw new InstallError(`The lockfile says ${resolved}, and the manifest ${prefix}${spec.version}.`);
  return version;
}

/** What other artifacts of the entity hold at a version: alone, npm would choose the newest of them, which is not what is locked. */
function lockedBeside({ locked, lockedOthers = [] }: InstallContext): string[] {
  return lockedOthers.filter((other) => locked?.dependencies?.some(({ resolved }) => resolved === other));
}

/** Whether it is one that the spec asks for; of a tag nobody knows. */
export function isVersionOf({ version: wanted }: NpmSpec, version: string): boolean {
  return semver.validRange(wanted) === null || semver.satisfies(version, wanted, { includePrerelease: true });
}

function checkResolution(
  spec: NpmSpec,
  { version, integrity, dependencies }: NpmResolution,
  { locked }: InstallContext,
): void {
  if (!integrity) throw new InstallError(`The registry gives no digest for ${spec.package}@${version}.`);
  if (!locked) return;
  if (integrity !== locked.integrity)
    throw new InstallError(
      `${spec.package}@${version} is another than in the lockfile: its digest is ${integrity}, and should be ${locked.integrity}.`,
    );
  checkSameDependencies(`${spec.package}@${version}`, dependencies, locked.dependencies ?? []);
}
