// What npm's own lockfile says of a package and of everything it needs.
import { join } from 'node:path';
import { z } from 'zod';
import { asObject } from '../../lib/json.ts';
import { readPlainText } from '../../lib/plain-file.ts';
import { type Dependency, InstallError } from './artifact-installer.ts';

const LockedPackage = z.looseObject({
  name: z.string().optional(),
  version: z.string().optional(),
  integrity: z.string().optional(),
  resolved: z.union([z.string(), z.boolean()]).optional(),
  hasShrinkwrap: z.boolean().optional(),
  link: z.boolean().optional(),
  inBundle: z.boolean().optional(),
  bin: z.unknown().optional(),
  optional: z.boolean().optional(),
  devOptional: z.boolean().optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
  peerDependencies: z.record(z.string(), z.string()).optional(),
});
type LockedPackage = z.infer<typeof LockedPackage>;
const NpmLock = z.looseObject({ packages: z.record(z.string(), LockedPackage) });

export interface NpmResolution {
  version: string;
  integrity: string | null;
  dependencies: Dependency[];
}

/** Where a package is. */
export interface NpmPlace extends Dependency {
  /** Relative to the target. */
  path: string;
  /** The folder that its files were unpacked into: another one for those that come inside of a package. */
  unpackedAt: string;
  /** What leads to its programs from beside that folder. */
  bins: string[];
  /** Whether it may be absent, as those for other machines are. */
  isOptional: boolean;
}

/** @throws InstallError when the package is not in the lockfile. */
export async function readNpmLock(folder: string, name: string): Promise<NpmResolution> {
  const packages = await readPackages(folder);
  const place = `node_modules/${name}`;
  const found = packages[place];
  if (!found?.version) throw new InstallError(`npm did not write '${name}' into its package-lock.json.`);
  return { version: found.version, integrity: found.integrity ?? null, dependencies: neededBy(place, packages) };
}

/** The package itself, then all that it needs. */
export async function placesOf(folder: string, name: string): Promise<NpmPlace[]> {
  const packages = await readPackages(folder);
  const own = `node_modules/${name}`;
  return [own, ...placesNeededBy(own, packages)].map((path) => ({
    path,
    ...describe(path, packages),
    unpackedAt: unpackedAt(path, packages),
    bins: binsOf(unpackedAt(path, packages), packages),
    isOptional: Boolean(packages[path]?.optional ?? packages[path]?.devOptional),
  }));
}

/** The first package that it needs and that comes from git, a file or a folder; npm itself refuses them only since 11.19. */
export async function findUnregistered(folder: string, name: string): Promise<string | undefined> {
  const packages = await readPackages(folder);
  const place = `node_modules/${name}`;
  return [place, ...placesNeededBy(place, packages)].find((each) => {
    const { link, resolved } = packages[each] ?? {};
    return link || (typeof resolved === 'string' && !/^https?:/i.test(resolved));
  });
}

/** Whether every tarball is on the host of one of the registries, by the same protocol, and no package has a lockfile of its own that names others. */
export async function isAllFrom(registries: readonly string[], folder: string): Promise<boolean> {
  const origins = registries.map((url) => new URL(url).origin);
  return Object.values(await readPackages(folder)).every(({ resolved, hasShrinkwrap }) => {
    if (hasShrinkwrap) return false;
    if (typeof resolved !== 'string' || !/^https?:/i.test(resolved)) return true;
    return URL.canParse(resolved) && origins.includes(new URL(resolved).origin);
  });
}

async function readPackages(folder: string): Promise<Readonly<Record<string, LockedPackage>>> {
  const text = await readPlainText(join(folder, 'package-lock.json')).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new InstallError('There is no package-lock.json in the target, which npm writes: install again.');
  });
  try {
    if (text === undefined) throw new Error('it is no file');
    return NpmLock.parse(JSON.parse(text)).packages;
  } catch (error) {
    throw new InstallError(
      'The package-lock.json in the target cannot be understood: mend it or move it away, then install again.',
      { cause: error },
    );
  }
}

/** Sorted, each once. */
function neededBy(place: string, packages: Readonly<Record<string, LockedPackage>>): Dependency[] {
  const described = new Map<string, Dependency>();
  for (const each of placesNeededBy(place, packages)) {
    const dependency = describe(each, packages);
    described.set(dependency.resolved, dependency);
  }
  return [...described.values()].sort((a, b) => (a.resolved < b.resolved ? -1 : 1));
}

function describe(place: string, packages: Readonly<Record<string, LockedPackage>>): Dependency {
  const { name = nameOf(place), version = '', integrity = null } = packages[place] ?? {};
  return { resolved: `${name}@${version}`, integrity };
}

function unpackedAt(place: string, packages: Readonly<Record<string, LockedPackage>>): string {
  const above = place.lastIndexOf('/node_modules/');
  return packages[place]?.inBundle && above >= 0 ? unpackedAt(place.slice(0, above), packages) : place;
}

function binsOf(place: string, packages: Readonly<Record<string, LockedPackage>>): string[] {
  const modules = place.slice(0, place.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const names = Object.keys(asObject(packages[place]?.bin)).filter((name) => !/^\.*$|[/\\]/.test(name));
  // Those of Windows have two files more.
  return names.flatMap((name) => ['', '.cmd', '.ps1'].map((ending) => `${modules}.bin/${name}${ending}`));
}

/** Everything that is needed, however indirectly. */
function placesNeededBy(place: string, packages: Readonly<Record<string, LockedPackage>>): Set<string> {
  const seen = new Set([place]);
  const waiting = [place];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const needed of neededNames(packages[next])) {
      const found = whereFound(needed, next, packages);
      if (found === undefined || seen.has(found)) continue;
      seen.add(found);
      waiting.push(found);
    }
  }
  seen.delete(place);
  return seen;
}

function neededNames({ dependencies, optionalDependencies, peerDependencies }: LockedPackage = {}): string[] {
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
}

/** As Node looks for it: in the package's own folder, then in those above. */
function whereFound(name: string, from: string, packages: Readonly<Record<string, LockedPackage>>): string | undefined {
  for (let folder = from; ; ) {
    const place = `${folder}${folder === '' ? '' : '/'}node_modules/${name}`;
    if (packages[place]) return place;
    if (folder === '') return undefined;
    const above = folder.lastIndexOf('/node_modules/');
    folder = above < 0 ? '' : folder.slice(0, above);
  }
}

function nameOf(place: string): string {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
