// Installs one artifact into a target: resolves it, builds it aside, inspects it, and puts it in place, or changes nothing.
import { lstat, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { jsonDigest } from '../../lib/json-digest.ts';
import { LOCKFILE_NAME, type LockedArtifact } from '../contract.ts';
import { cannotFollow, InstallError } from '../errors.ts';
import { absent, makeFolderInside, pathInside, readInside, removeInside } from '../target/files.ts';
import { HUB_FOLDER, overlap, safeName, VENDOR } from '../target/places.ts';
import { treeDigest } from '../target/tree.ts';
import type { ArtifactContext, Built, Location, Resolution } from './artifact.ts';
import type { ReadyArtifact } from './kinds.ts';

/** Written last into a folder below `.hub`; a folder without it does not count. */
const MARKER = '.complete';
const PIN_LENGTH = 12;

/** An artifact that is built, and perhaps not in its place yet. */
export interface InstalledArtifact extends Resolution, Built {
  /** Relative to the target; null when it has no folder. */
  path: string | null;
  tree?: string;
  /** Puts a folder in place that was built in staging; answers how to undo that. */
  commit?(): Promise<() => Promise<void>>;
}

export interface Ownership {
  /** Tree digests of the folders that this entity has in the target, by path. */
  ours: ReadonlyMap<string, string>;
  /** Folders of other entities, with their ids. */
  others: ReadonlyMap<string, string>;
}

export interface PlaceJob {
  targetDir: string;
  context: ArtifactContext;
  /** What the lockfile says about the same artifact; it is built again exactly like that. */
  locked: LockedArtifact | undefined;
  isFrozen: boolean;
  isForced: boolean;
  /** The folder that the person chose. */
  dest: string | undefined;
  /** Last choice for the name of a folder. */
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

/** The path of its folder, and what an install would warn of. Nothing is built. @throws InstallError as an install does. */
export async function foreseePlace({ kind, spec }: ReadyArtifact, given: PlaceJob) {
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

/** @throws InstallError when a frozen install has nothing to go by. */
export function checkLocked<T extends Pick<PlaceJob, 'isFrozen' | 'locked'>>({ kind, spec }: ReadyArtifact, given: T) {
  const location = kind.location(spec);
  const { isFrozen, locked } = given;
  // A lockfile that an earlier version wrote has no pins, and one that was edited may have another path.
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

/** The folder is named after what it holds, so that one that is complete is never built again. */
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

/** Caches that programs write while they run do not count. */
function builtTree(folder: string): Promise<string> {
  return treeDigest(folder, [MARKER, '__pycache__', '.cache']);
}

type Complete = { built: Built; tree: string };

/** What was built in a folder below `.hub`; undefined when it is not complete. */
export async function readComplete(targetDir: string, path: string): Promise<Complete | undefined> {
  try {
    const { tree, ...built } = JSON.parse((await readInside(targetDir, `${path}/${MARKER}`)) ?? '');
    // A Python that was removed from the machine leaves a dangling link.
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

/** The folder `.git` is excluded: git changes it even when a checkout is only read. */
export function vendorTree(folder: string): Promise<string> {
  return treeDigest(folder, ['.git']);
}

/** A derived name is changed if it is taken; a folder that the user or the manifest chose is not. */
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

/** The folder of an earlier install, if it holds what is locked, or what a person made of it. */
async function keepFolder(paths: readonly string[], { targetDir, locked, ownership, isForced, isFrozen }: PlaceJob) {
  const path = paths.find((each) => each === locked?.path && ownership.ours.has(each));
  const found = path && (await treeAt(targetDir, path));
  if (!path || !found) return undefined;
  const tree = ownership.ours.get(path);
  if (found !== tree && (isForced || isFrozen)) return undefined;
  const warning = `'${path}' ${CHANGED} and is left as it is. Use --force to replace it.`;
  return { path, tree, warnings: found === tree ? [] : [warning], extra: { unchanged: true } };
}

/** Undefined when nothing is there. */
async function treeAt(targetDir: string, path: string): Promise<string | undefined> {
  const folder = await pathInside(targetDir, path);
  const found = await lstat(folder).catch(absent);
  if (!found || (found.isDirectory() && (await readdir(folder)).length === 0)) return undefined;
  return vendorTree(folder).catch(() => 'unreadable');
}

/** The first path at which nothing of a person is lost; `tree` is what goes there, if known. @throws InstallError */
async function choosePath(paths: readonly string[], tree: string | undefined, job: PlaceJob) {
  const { ours } = job.ownership;
  for (const path of paths) {
    if (ownerOf(path, job)) continue;
    const found = await treeAt(job.targetDir, path);
    // The same content may be there because an install was killed before it wrote the lockfile.
    if ([undefined, tree, ours.get(path)].includes(found)) {
      const warnings = path === paths[0] ? [] : [`'${paths[0]}' is taken, so '${path}' is used.`];
      return { path, warnings };
    }
    if (!ours.has(path) && paths.length > 1) continue;
    const state = `'${path}' ${ours.has(path) ? CHANGED : FOREIGN}`;
    if (job.isForced) return { path, warnings: [`${state}, and is replaced because of --force.`] };
    const ways = job.isFrozen ? 'Move it away' : 'Move it away, choose another folder with --dest';
    throw new InstallError(`${state}, so it is left as it is. ${ways}, or replace it with --force.`);
  }
  const all = paths.map((path) => `'${path}'`).join(', ');
  throw new InstallError(`${all}: each ${FOREIGN}. Choose another folder with --dest.`);
}

const CHANGED = 'was changed since it was installed';
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
