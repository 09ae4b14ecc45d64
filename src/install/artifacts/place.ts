// Installs one artifact into a target: resolves it, builds it in staging, inspects it, and moves it into place, or changes nothing.
import { lstat, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { jsonDigest } from '../../lib/json-digest.ts';
import { LOCKFILE_NAME, type LockedArtifact } from '../contract.ts';
import { cannotFollow, InstallError } from '../errors.ts';
import { absent, makeFolderInside, pathInside, readInside, removeInside } from '../target/files.ts';
import { HUB_FOLDER, overlap, safeName, VENDOR } from '../target/places.ts';
import { treeDigest } from '../target/tree.ts';
import type { ArtifactContext, Built, Location, Resolution } from './artifact.ts';
import { findWork } from './git/person-work.ts';
import type { ReadyArtifact } from './kinds.ts';

/** Written last into a folder below `.hub`; a folder without it is incomplete. */
export const MARKER = '.complete';
const PIN_LENGTH = 12;

/** An artifact that is built, but possibly not in place yet. */
export interface InstalledArtifact extends Resolution, Built {
  /** Relative to the target; null if it has no folder. */
  path: string | null;
  tree?: string;
  /** Moves the folder from staging into place; resolves to a function that undoes it. */
  commit?(): Promise<() => Promise<void>>;
}

export interface Ownership {
  /** Tree digests of this entity's folders in the target, by path. */
  ours: ReadonlyMap<string, string>;
  /** Folders of other entities → their ids. */
  others: ReadonlyMap<string, string>;
}

export interface PlaceJob {
  targetDir: string;
  context: ArtifactContext;
  /** The lock entry of the same artifact, which is then rebuilt exactly. */
  locked: LockedArtifact | undefined;
  isFrozen: boolean;
  isForced: boolean;
  /** The folder that the user chose. */
  dest: string | undefined;
  /** Fallback for the name of the folder. */
  slug: string;
  ownership: Ownership;
}

export async function placeArtifact(artifact: ReadyArtifact, given: PlaceJob): Promise<InstalledArtifact> {
  const { kind, spec } = artifact;
  const { location, job } = checkLocked(artifact, given);
  if (location.kind === 'hub') return placeInHub(artifact, location, job);
  if (location.kind === 'vendor') return placeInVendor(artifact, location, job);
  const resolution = await resolve(artifact, job);
  return { ...resolution, path: null, ...(await kind.build(spec, resolution, job.context.stagingDir, job.context)) };
}

/** Returns the folder's path and the warnings of an install, without building. @throws InstallError like an install. */
export async function previewPlace({ kind, spec }: ReadyArtifact, given: PlaceJob) {
  const { location, job } = checkLocked({ kind, spec }, given);
  const { locked, targetDir, context } = job;
  const paths = location.kind === 'vendor' ? possiblePaths(location, job) : [];
  const kept = locked && (await keepFolder(paths, job));
  if (kept) return kept;
  const isBuilt = locked?.path && (await readComplete(targetDir, locked.path));
  const lack = isBuilt ? undefined : await kind.unavailable?.(spec, context, locked?.pins);
  if (lack && location.kind !== 'none') throw new InstallError(lack);
  if (location.kind === 'vendor') return choosePath(paths, locked?.tree, job);
  return { path: undefined, warnings: lack ? [lack] : [] };
}

/** @throws InstallError if a frozen install has no exact lock entry. */
export function checkLocked<T extends Pick<PlaceJob, 'isFrozen' | 'locked'>>({ kind, spec }: ReadyArtifact, given: T) {
  const location = kind.location(spec);
  const { isFrozen, locked } = given;
  // A lockfile of an earlier version has no pins, and an edited one may have another path.
  const isExact = location.kind !== 'hub' || (locked?.pins && locked.path === hubPath(location, locked));
  const fault = `${LOCKFILE_NAME} does not say exactly what '${kind.describe(spec)}' installs.`;
  if (isFrozen && !(locked?.ok && isExact))
    throw new InstallError(`${fault} Install once without --frozen to lock it.`);
  return { location, job: { ...given, locked: locked?.ok && isExact ? locked : undefined } };
}

async function resolve({ kind, spec }: ReadyArtifact, { locked, context }: PlaceJob): Promise<Resolution> {
  if (!locked) return kind.resolve(spec, context);
  return { resolved: locked.resolved, integrity: locked.integrity, pins: locked.pins };
}

type HubLocation = Extract<Location, { kind: 'hub' }>;

/** Named after its content, so that a complete folder is never rebuilt. */
function hubPath({ area, name }: HubLocation, { resolved, integrity, pins }: Resolution): string {
  const digest = jsonDigest([resolved, integrity, pins]).replace(/^sha256:/, '');
  return `${HUB_FOLDER}/${area}/${safeName(name)}/${digest.slice(0, PIN_LENGTH)}`;
}

async function placeInHub(artifact: ReadyArtifact, location: HubLocation, job: PlaceJob): Promise<InstalledArtifact> {
  const { targetDir, isFrozen, context } = job;
  const resolution = await resolve(artifact, job);
  const path = hubPath(location, resolution);
  const found = await readComplete(targetDir, path);
  const complete = found && !(context.trust.allowScripts && found.built.warnings?.length) ? found : undefined;
  const isAltered = complete && isFrozen && (await isChanged(targetDir, path, complete));
  if (complete && !isAltered)
    return { ...resolution, ...complete.built, path, extra: { ...complete.built.extra, unchanged: true } };
  const folder = await pathInside(targetDir, path);
  await rm(folder, { recursive: true, force: true });
  await makeFolderInside(targetDir, path);
  try {
    const built = await artifact.kind.build(artifact.spec, resolution, folder, context);
    await writeFile(join(folder, MARKER), `${JSON.stringify({ ...built, tree: await builtTree(folder) })}\n`);
    const altered = isAltered ? [`'${path}' ${CHANGED}, and was built again.`] : [];
    return { ...resolution, ...built, path, warnings: [...(built.warnings ?? []), ...altered] };
  } catch (error) {
    await removeInside(targetDir, path);
    throw error;
  }
}

/** Ignores caches that programs write at run time. */
function builtTree(folder: string): Promise<string> {
  return treeDigest(folder, [MARKER, '__pycache__', '.cache']);
}

type Complete = { built: Built; tree: string };

/** Describes a built folder below `.hub`; returns undefined if it is incomplete. */
export async function readComplete(targetDir: string, path: string): Promise<Complete | undefined> {
  try {
    const { tree, ...built } = JSON.parse((await readInside(targetDir, `${path}/${MARKER}`)) ?? '');
    // A Python that was uninstalled leaves a dangling link.
    for (const { file, interpreter } of built.programs ?? []) await stat(join(targetDir, path, interpreter ?? file));
    return { built, tree };
  } catch {
    return undefined;
  }
}

export async function isChanged(targetDir: string, path: string, { tree }: Complete): Promise<boolean> {
  return tree !== (await builtTree(join(targetDir, path)));
}

type VendorLocation = Extract<Location, { kind: 'vendor' }>;

async function placeInVendor({ kind, spec }: ReadyArtifact, location: VendorLocation, job: PlaceJob) {
  const { targetDir, context, locked } = job;
  const paths = possiblePaths(location, job);
  const kept = locked && (await keepFolder(paths, job));
  const resolution = await resolve({ kind, spec }, job);
  if (kept) return { ...resolution, ...(await kind.inspect?.(join(targetDir, kept.path))), ...kept };
  const folder = join(context.stagingDir, 'built');
  await mkdir(folder);
  const built = await kind.build(spec, resolution, folder, context);
  const tree = await vendorTree(folder);
  if (job.isFrozen && locked?.tree && locked.tree !== tree)
    throw cannotFollow(`What was fetched for '${kind.describe(spec)}' is not what ${LOCKFILE_NAME} says.`);
  const { path, warnings } = await choosePath(paths, tree, job);
  return {
    ...resolution,
    ...built,
    path,
    tree,
    warnings: [...(built.warnings ?? []), ...warnings],
    commit: async () =>
      swap(await pathInside(targetDir, path), { fresh: folder, aside: join(context.stagingDir, 'before') }),
  };
}

/** Skips the folder `.git`, which git changes even when a checkout is only read, unless it holds the work of a person. */
export async function vendorTree(folder: string): Promise<string> {
  const tree = await treeDigest(folder, ['.git']);
  return (await findWork(join(folder, '.git'))) ? `${tree} and work in .git` : tree;
}

/** For messages about changed folders: what was changed in git, in parentheses; empty if nothing was. */
export async function workIn(folder: string): Promise<string> {
  const work = await findWork(join(folder, '.git'));
  return work ? ` (in git: ${work})` : '';
}

/** If a path is taken, a derived name gets alternatives; a folder that the user or the manifest chose does not. */
function possiblePaths({ dest, names }: VendorLocation, job: PlaceJob): string[] {
  const chosen = job.dest ?? dest;
  const derived = [...names, job.slug].map((name) => `${VENDOR}/${safeName(name)}`);
  if (chosen === undefined) return derived.includes(job.locked?.path ?? '') ? [String(job.locked?.path)] : derived;
  const owner = ownerOf(chosen, job);
  if (owner) throw new InstallError(`'${chosen}' belongs to ${owner}. Choose another folder with --dest.`);
  return [chosen];
}

function ownerOf(path: string, { ownership }: PlaceJob): string | undefined {
  return [...ownership.others].find(([other]) => overlap(other, path))?.[1];
}

/** Keeps the folder of an earlier install if it has the locked content, or changes by the user. */
async function keepFolder(paths: readonly string[], { targetDir, locked, ownership, isForced, isFrozen }: PlaceJob) {
  const path = paths.find((each) => each === locked?.path && ownership.ours.has(each));
  const found = path && (await treeAt(targetDir, path));
  if (!path || !found) return undefined;
  const tree = ownership.ours.get(path);
  if (found !== tree && (isForced || isFrozen)) return undefined;
  const kept = { path, tree, extra: { unchanged: true } };
  if (found === tree) return { ...kept, warnings: [] };
  const state = `'${path}' ${CHANGED}${await workIn(join(targetDir, path))}`;
  return { ...kept, warnings: [`${state} and is left as it is. Use --force to replace it.`] };
}

/** Returns undefined if nothing exists there. */
async function treeAt(targetDir: string, path: string): Promise<string | undefined> {
  const folder = await pathInside(targetDir, path);
  const found = await lstat(folder).catch(absent);
  if (!found || (found.isDirectory() && (await readdir(folder)).length === 0)) return undefined;
  return vendorTree(folder).catch(() => 'unreadable');
}

/** The first path where no user files are lost; `tree` is the digest of the new content, if known. @throws InstallError */
async function choosePath(paths: readonly string[], tree: string | undefined, job: PlaceJob) {
  const { ours } = job.ownership;
  for (const path of paths) {
    if (ownerOf(path, job)) continue;
    const found = await treeAt(job.targetDir, path);
    // The same content may exist because an install was killed before it wrote the lockfile.
    if ([undefined, tree, ours.get(path)].includes(found)) {
      const warnings = path === paths[0] ? [] : [`'${paths[0]}' is taken, so '${path}' is used.`];
      return { path, warnings };
    }
    if (!ours.has(path) && paths.length > 1) continue;
    const work = await workIn(join(job.targetDir, path));
    const state = `'${path}' ${ours.has(path) ? CHANGED : FOREIGN}${work}`;
    if (job.isForced) return { path, warnings: [`${state}, and is replaced because of --force.`] };
    const ways = job.isFrozen ? 'Move it away' : 'Move it away, choose another folder with --dest';
    throw new InstallError(`${state}, so it is left as it is. ${ways}, or replace it with --force.`);
  }
  const all = paths.map((path) => `'${path}'`).join(', ');
  throw new InstallError(`${all}: each ${FOREIGN}. Choose another folder with --dest.`);
}

const CHANGED = 'has changed since it was installed';
const FOREIGN = 'contains files that the hub did not put there';

async function swap(folder: string, { fresh, aside }: { fresh: string; aside: string }): Promise<() => Promise<void>> {
  async function undo(): Promise<void> {
    await rm(folder, { recursive: true, force: true });
    await rename(aside, folder).catch(absent);
  }
  await mkdir(dirname(folder), { recursive: true });
  await rename(folder, aside).catch(absent);
  try {
    await rename(fresh, folder);
    return undo;
  } catch (error) {
    await undo();
    throw error;
  }
}
