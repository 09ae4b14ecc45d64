// What is in the folders of packages: npm itself does not look into those that are there already.
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { treeDigest } from '../../lib/file-digest.ts';
import { relativePathFault } from '../../lib/files.ts';
import { treeKey } from '../known-trees.ts';
import { treeSkips } from '../tree.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { type NpmPlace, placesOf } from './npm-lock.ts';

type Trees = Record<string, string>;

export interface Unproven {
  /** Folders that hold something else than what is known of their packages, or of whose packages nothing is known; what leads to their programs too, or npm would not make those executable. */
  paths: string[];
  /** Packages of which more is known: they were changed. */
  changed: string[];
  /** Digests of all other folders that are there. */
  proven: ReadonlyMap<string, string>;
}

/** Of a package and of all it needs, by npm's lockfile. */
export async function findUnproven(
  name: string,
  { targetDir, knownTrees = new Map() }: Pick<InstallContext, 'targetDir' | 'knownTrees'>,
): Promise<Unproven> {
  const found = { paths: new Set<string>(), changed: new Set<string>(), proven: new Map<string, string>() };
  for (const place of await placesOf(targetDir, name)) {
    const tree = await treeAt(place, targetDir);
    const known = knownTrees.get(treeKey(place));
    if (tree !== undefined && tree === known) {
      found.proven.set(place.path, tree);
    } else {
      for (const path of [place.unpackedAt, ...place.bins]) found.paths.add(path);
      if (tree !== undefined && known !== undefined) found.changed.add(place.resolved);
    }
  }
  return { paths: [...found.paths].sort(), changed: [...found.changed].sort(), proven: found.proven };
}

export interface KnownOfPlaces {
  /** Without looking. */
  before(place: NpmPlace): string | undefined;
  /** Where nothing is there to look at, because it is for other machines. */
  whenAbsent?(place: NpmPlace): string | undefined;
}

/** Digests of what a package needs, by name and version. */
export async function dependencyTrees(
  name: string,
  targetDir: string,
  { before, whenAbsent }: KnownOfPlaces,
): Promise<Trees> {
  const [, ...places] = await placesOf(targetDir, name);
  const trees = new Map<string, string>();
  const apart = new Set<string>();
  for (const place of places) {
    const tree = before(place) ?? (await treeAt(place, targetDir)) ?? whenAbsent?.(place);
    if (tree === undefined) continue;
    // The same package twice, in two forms: neither is the one.
    if ((trees.get(place.resolved) ?? tree) !== tree) apart.add(place.resolved);
    trees.set(place.resolved, tree);
  }
  const agreed = [...trees].filter(([resolved]) => !apart.has(resolved));
  return Object.fromEntries(agreed.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Undefined when nothing is there; a text that is no digest where no folder is. */
export async function treeAt({ path }: Pick<NpmPlace, 'path'>, targetDir: string): Promise<string | undefined> {
  const fault = relativePathFault(path);
  if (fault)
    throw new InstallError(`A path in package-lock.json ${fault}: mend it or move it away, then install again.`);
  const folder = join(targetDir, path);
  const found = await lstat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
  });
  if (!found) return undefined;
  return found.isDirectory() ? treeDigest(folder, treeSkips('npm')) : 'no folder';
}
