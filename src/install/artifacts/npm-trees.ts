// What is in the folders of packages: npm itself does not look into those that are there already.
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../../lib/absent.ts';
import { treeDigest } from '../../lib/file-digest.ts';
import { relativePathFault } from '../../lib/path-inside.ts';
import { treeKey } from '../known-trees.ts';
import { treeSkips } from '../tree.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { type NpmPlace, placesOf } from './npm-lock.ts';

type Trees = Record<string, string>;

const NO_FOLDER = 'no folder';

export interface Unproven {
  /** Folders that hold something else than what is known of their packages; what leads to their programs too, or npm would not make those executable. */
  paths: string[];
  /** Folders of whose packages nothing is known: somebody may have built or mended something in them. By their paths, what each is. */
  unknown: ReadonlyMap<string, string>;
  /** Packages of which more is known: they were changed. */
  changed: string[];
  /** Digests of all other folders that are there. */
  proven: ReadonlyMap<string, string>;
}

/** Of a package and of all it needs, by npm's lockfile in `dir`. In a frozen install, what is not known has to go as well. */
export async function findUnproven(
  name: string,
  dir: string,
  { targetDir, knownTrees = new Map(), locked }: Pick<InstallContext, 'targetDir' | 'knownTrees' | 'locked'>,
): Promise<Unproven> {
  const found = { paths: new Set<string>(), changed: new Set<string>(), proven: new Map<string, string>() };
  const unknown = new Map<string, string>();
  for (const place of await placesOf(dir, name)) {
    const tree = await treeAt(place, targetDir);
    const known = knownTrees.get(treeKey(place));
    if (tree !== undefined && tree === known) {
      found.proven.set(place.path, tree);
    } else if (tree !== undefined && tree !== NO_FOLDER && known === undefined && !locked) {
      unknown.set(place.path, place.resolved);
    } else {
      for (const path of [place.unpackedAt, ...place.bins]) found.paths.add(path);
      if (tree !== undefined && known !== undefined) found.changed.add(place.resolved);
    }
  }
  return { paths: [...found.paths].sort(), unknown, changed: [...found.changed].sort(), proven: found.proven };
}

export interface KnownOfPlaces {
  /** Without looking. */
  before(place: NpmPlace): string | undefined;
  /** Whether nobody knows if what is there is the package. */
  isUnknown?(place: NpmPlace): boolean;
  /** Where nothing is there to look at, because it is for other machines. */
  whenAbsent?(place: NpmPlace): string | undefined;
}

/** Digests of what a package needs, by name and version; where it is is told by npm's lockfile in `dir`. */
export async function dependencyTrees(
  name: string,
  dir: string,
  { before, isUnknown, whenAbsent }: KnownOfPlaces,
): Promise<Trees> {
  const [, ...places] = await placesOf(dir, name);
  const trees = new Map<string, string>();
  const apart = new Set<string>();
  for (const place of places) {
    // Nor is it known of another folder of the same package, or this one would have to be as that is.
    if (isUnknown?.(place)) {
      apart.add(place.resolved);
      continue;
    }
    const tree = before(place) ?? (await treeAt(place, dir)) ?? whenAbsent?.(place);
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
  const found = await lstat(folder).catch(absent);
  if (!found) return undefined;
  return found.isDirectory() ? treeDigest(folder, treeSkips('npm')) : NO_FOLDER;
}
