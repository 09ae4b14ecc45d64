// What has to leave an environment before other versions of packages come into it, by the lists of those that are there.
import { relative, sep } from 'node:path';
import { describedName, type Environment } from './pypi-environment.ts';
import { hasList, hasWhole, listedInside } from './pypi-record.ts';

/** Paths below the environment, as names. */
export interface Leaving {
  files: { folder: string[]; names: string[] }[];
  /** Folders with all that is in them. */
  wholes: string[][];
  /** The folder of packages. */
  packages: string[];
}

/** For what is in `made` and is named. @throws InstallError when a list leads out of the environment. */
export async function findLeaving(
  made: Environment,
  there: Environment | undefined,
  names: ReadonlySet<string>,
): Promise<Leaving> {
  if (!there) return { files: [], wholes: [], packages: [] };
  const packages = relative(there.folder, there.packages).split(sep);
  // An archive may describe packages that nobody asked for.
  const isReplaced = (name: string) => names.has(name) && made.described.has(name);
  const descriptions = there.descriptions.filter((each) => isReplaced(describedName(each)));
  const wholes = descriptions.map((each) => [...packages, each]);
  const files: string[][][] = [];
  for (const description of descriptions)
    if (await hasList(there, description)) files.push(await listedInside(there, description));
  // Parts of one would be taken for the whole.
  if (isReplaced('pip') && !(await hasWhole(there, 'pip'))) wholes.unshift([...packages, 'pip']);
  const isOfWhole = (file: readonly string[]) => wholes.some((whole) => whole.every((name, at) => name === file[at]));
  return {
    files: byFolder(
      files
        .flat()
        .map(throughLib)
        .filter((file) => !isOfWhole(file)),
    ),
    wholes,
    packages,
  };
}

/** A link of Python's own in every environment, and the only one that lists lead through. */
function throughLib([first = '', ...names]: readonly string[]): string[] {
  return [first === 'lib64' ? 'lib' : first, ...names];
}

function byFolder(files: readonly string[][]): Leaving['files'] {
  const folders = Map.groupBy(files, (file) => file.slice(0, -1).join('/'));
  return [...folders.values()].map((each) => ({
    folder: each[0]?.slice(0, -1) ?? [],
    // Several descriptions of one package name the same files.
    names: [...new Set(each.map((file) => file.at(-1) ?? ''))],
  }));
}
