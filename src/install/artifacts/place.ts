// Brings one artifact into a target: resolve, build aside, inspect, and put in place, or leave everything as it was.
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { treeDigest } from '../../lib/file-digest.ts';
import { makeFolderInside } from '../../lib/files.ts';
import { jsonDigest } from '../../lib/json-digest.ts';
import { pathInside } from '../../lib/path-inside.ts';
import { readPlainText } from '../../lib/plain-file.ts';
import { LOCKFILE_NAME, type LockedArtifact, type PlannedArtifact } from '../contract.ts';
import { InstallError } from '../errors.ts';
import { changeState } from '../state.ts';
import { HUB_FOLDER, overlap, safeName, VENDOR } from '../target/places.ts';
import { STAGING } from '../target/target-queue.ts';
import type { ArtifactContext, Built, Location, Pins, Program, Resolution } from './artifact.ts';
import type { ReadyArtifact } from './kinds.ts';

/** Written last into a folder below `.hub`; a folder without it does not count. */
const MARKER = '.complete';
const PIN_LENGTH = 12;

/** An artifact that is built, and perhaps not in its place yet. */
export interface InstalledArtifact extends Resolution {
  /** Relative to the target; null when it has no folder. */
  path: string | null;
  /** Digest of a folder in `vendor`. */
  tree?: string;
  programs: readonly Program[];
  warnings: readonly string[];
  extra: Record<string, unknown>;
  skipped?: string;
  /** Puts a folder in place that was built in staging. */
  commit(): Promise<void>;
}

/** One artifact of a plan; `installed` is undefined when its step failed. */
export interface ArtifactOutcome {
  planned: PlannedArtifact;
  installed: InstalledArtifact | undefined;
}

/** What is known about the folders of a target. */
export interface Ownership {
  /** Tree digests of the folders that this entity has in the target, by path. */
  ours: ReadonlyMap<string, string>;
  /** Folders of other entities, with their ids. */
  others: ReadonlyMap<string, string>;
}

export interface PlaceJob {
  targetDir: string;
  context: Omit<ArtifactContext, 'stagingDir'>;
  /** What the lockfile says about the same artifact; it is built again exactly like that. */
  locked: LockedArtifact | undefined;
  isFrozen: boolean;
  /** Replace what is in the way. */
  isForced: boolean;
  /** Folder that the person chose. */
  dest: string | undefined;
  /** Last choice for the name of a folder. */
  slug: string;
  ownership: Ownership;
}

export async function placeArtifact(artifact: ReadyArtifact, job: PlaceJob): Promise<InstalledArtifact> {
  const locked = lockedResolution(artifact, job);
  const staging = `${HUB_FOLDER}/${STAGING}/${randomUUID()}`;
  const context = { ...job.context, stagingDir: await makeFolderInside(job.targetDir, staging) };
  const { location } = artifact;
  if (location.kind === 'hub') return placeInHub(artifact, location, { ...job, context, locked });
  if (location.kind === 'vendor') return placeInVendor(artifact, location, { ...job, context, staging, locked });
  const resolution = locked ?? (await artifact.resolve(context));
  return installed(resolution, null, await artifact.build(resolution, context.stagingDir, context));
}

/** Undefined when it has to be resolved. @throws InstallError */
function lockedResolution({ location, command }: ReadyArtifact, job: PlaceJob): Resolution | undefined {
  const { locked } = job;
  const isUsable = locked?.ok && (location.kind !== 'hub' || locked.pins !== undefined);
  if (isUsable) {
    const pins = locked.pins as Pins | undefined;
    return { resolved: locked.resolved, integrity: locked.integrity, ...(pins ? { pins } : {}) };
  }
  if (!job.isFrozen) return undefined;
  throw new InstallError(
    `${LOCKFILE_NAME} does not say exactly what '${command}' installs. Install without frozen once, which locks it.`,
  );
}

function installed(resolution: Resolution, path: string | null, built: Built): InstalledArtifact {
  const { programs = [], warnings = [], extra = {}, skipped } = built;
  const { resolved, integrity, pins } = resolution;
  return {
    ...{ resolved, integrity, path, programs, warnings, extra },
    ...(pins ? { pins } : {}),
    ...(skipped ? { skipped } : {}),
    commit: async () => {},
  };
}

type Job = Omit<PlaceJob, 'context' | 'locked'> & { context: ArtifactContext; locked: Resolution | undefined };

/** The folder is named after what it holds, so that one that is complete is never built again. */
async function placeInHub(
  artifact: ReadyArtifact,
  { area, name }: Extract<Location, { kind: 'hub' }>,
  job: Job,
): Promise<InstalledArtifact> {
  const { targetDir, context } = job;
  const resolution = job.locked ?? (await artifact.resolve(context));
  const path = `${HUB_FOLDER}/${area}/${safeName(name)}/${pinOf(resolution)}`;
  const folder = await pathInside(targetDir, path);
  const complete = await readComplete(folder, { isExact: job.isFrozen });
  if (complete) return installed(resolution, path, { ...complete, extra: { ...complete.extra, unchanged: true } });
  await rm(folder, { recursive: true, force: true });
  await makeFolderInside(targetDir, path);
  try {
    const built = await artifact.build(resolution, folder, context);
    await writeFile(join(folder, MARKER), `${JSON.stringify({ ...built, tree: await builtTree(folder) })}\n`);
    return installed(resolution, path, built);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

function pinOf({ resolved, integrity, pins }: Resolution): string {
  return jsonDigest([resolved, integrity, pins])
    .replace(/^sha256:/, '')
    .slice(0, PIN_LENGTH);
}

/** Programs write these while they run. */
const CACHES = ['__pycache__', '.cache'];

function builtTree(folder: string): Promise<string> {
  return treeDigest(folder, { skip: [MARKER], skipNames: CACHES });
}

/** What was built in a folder; undefined when it is not complete, or, if that is asked for, was changed since. */
export async function readComplete(
  folder: string,
  { isExact }: { isExact: boolean },
): Promise<(Built & { tree: string }) | undefined> {
  try {
    const complete = JSON.parse((await readPlainText(join(folder, MARKER))) ?? '');
    for (const { file, interpreter } of complete.programs ?? []) {
      // A Python that was removed from the machine leaves a dangling link.
      await stat(join(folder, interpreter ?? file));
    }
    return isExact && complete.tree !== (await builtTree(folder)) ? undefined : complete;
  } catch {
    return undefined;
  }
}

type VendorLocation = Extract<Location, { kind: 'vendor' }>;

interface VendorJob extends Job {
  /** Relative to the target. */
  staging: string;
}

async function placeInVendor(
  artifact: ReadyArtifact,
  location: VendorLocation,
  job: VendorJob,
): Promise<InstalledArtifact> {
  const { targetDir, context } = job;
  const path = await choosePath(location, job);
  const found = await inspectPlace(path, job);
  const mayStay = found.state === 'unchanged' || (found.state === 'changed' && !job.isForced && !job.isFrozen);
  if (mayStay && job.locked) {
    const { extra, ...built } = await artifact.inspect(await pathInside(targetDir, path));
    const warnings = found.state === 'unchanged' ? [] : [changedWarning(path)];
    return {
      ...installed(job.locked, path, { ...built, warnings, extra: { ...extra, unchanged: true } }),
      tree: found.tree,
    };
  }
  if (found.state !== 'free' && found.state !== 'unchanged' && !job.isForced) throw inTheWay(path, found.state);
  const resolution = job.locked ?? (await artifact.resolve(context));
  const folder = join(context.stagingDir, 'built');
  await mkdir(folder);
  const built = await artifact.build(resolution, folder, context);
  const tree = await vendorTree(folder);
  const warnings = [...(built.warnings ?? []), ...otherFolder(location, path, job)];
  return {
    ...installed(resolution, path, { ...built, warnings }),
    tree,
    commit: async () => {
      await changeState(targetDir, (state) => ({ ...state, placed: { ...state.placed, [path]: tree } }));
      await swap(targetDir, path, { fresh: folder, aside: join(context.stagingDir, 'before') });
    },
  };
}

function otherFolder({ dest, names }: VendorLocation, path: string, job: VendorJob): string[] {
  const first = `${VENDOR}/${safeName(names[0] ?? job.slug)}`;
  if (job.dest !== undefined || dest !== undefined || path === first) return [];
  return [`'${first}' is taken, so it was put into '${path}'.`];
}

/** Without what git itself keeps, which changes whenever somebody looks at a checkout with git. */
export function vendorTree(folder: string): Promise<string> {
  return treeDigest(folder, { skipNames: ['.git'] });
}

/** A name that is only derived gives way to others; a folder that somebody chose does not. */
async function choosePath({ dest, names }: VendorLocation, job: VendorJob): Promise<string> {
  const chosen = job.dest ?? dest;
  const { ours, others } = job.ownership;
  if (chosen !== undefined) {
    const owner = [...others].find(([path]) => overlap(path, chosen))?.[1];
    if (!owner) return chosen;
    throw new InstallError(`'${chosen}' belongs to ${owner}. Choose another folder with dest.`);
  }
  const paths = [...names, job.slug].map((name) => `${VENDOR}/${safeName(name)}`);
  for (const path of paths) {
    const isTaken = [...others.keys()].some((other) => overlap(other, path));
    if (isTaken) continue;
    if (ours.has(path) || !(await isOccupied(await pathInside(job.targetDir, path)))) return path;
  }
  throw new InstallError(
    `${paths.map((path) => `'${path}'`).join(', ')} hold files that the hub did not put there. Choose a folder with dest.`,
  );
}

async function isOccupied(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  if (!found) return false;
  return !found.isDirectory() || (await readdir(folder)).length > 0;
}

type Found = { state: 'free' | 'foreign' } | { state: 'unchanged' | 'changed'; tree: string };

async function inspectPlace(path: string, { targetDir, ownership }: VendorJob): Promise<Found> {
  const folder = await pathInside(targetDir, path);
  if (!(await isOccupied(folder))) return { state: 'free' };
  const tree = ownership.ours.get(path);
  if (tree === undefined) return { state: 'foreign' };
  const isSame = tree === (await vendorTree(folder).catch(() => undefined));
  return { state: isSame ? 'unchanged' : 'changed', tree };
}

function changedWarning(path: string): string {
  return `'${path}' was changed since it was installed and is left as it is. Use force to replace it.`;
}

function inTheWay(path: string, state: 'changed' | 'foreign'): InstallError {
  const why = state === 'changed' ? 'was changed since it was installed' : 'holds files that the hub did not put there';
  return new InstallError(
    `'${path}' ${why}, so it is left as it is. Move it away, choose another folder with dest, or replace it with force.`,
  );
}

async function swap(
  targetDir: string,
  path: string,
  { fresh, aside }: { fresh: string; aside: string },
): Promise<void> {
  const folder = await pathInside(targetDir, path);
  const parent = dirname(path);
  if (parent !== '.') await makeFolderInside(targetDir, parent);
  const hadOne = await rename(folder, aside).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return false;
    },
  );
  try {
    await rename(fresh, folder);
  } catch (error) {
    if (hadOne) await rename(aside, folder);
    throw error;
  }
}
