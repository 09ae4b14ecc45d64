// What is in a virtual environment, by the descriptions that packages leave there: nothing is started to find out.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../../lib/absent.ts';
import { pathInside } from '../../lib/path-inside.ts';
import { readPlainText } from '../../lib/plain-file.ts';
import { VENV } from './pypi-python.ts';
import { normalName } from './pypi-spec.ts';
import { normalVersion } from './pypi-version.ts';

export const SETTINGS = 'pyvenv.cfg';

export interface Environment {
  folder: string;
  packages: string;
  /** Normal form of a name → the folder that describes the package. */
  described: ReadonlyMap<string, string>;
  /** All of those folders: of one name there may be several. */
  descriptions: readonly string[];
}

/** What is in the virtual environment of a target, by the normal form of its name; nothing where there is none. */
export async function installedVersions(targetDir: string): Promise<Map<string, string>> {
  return versionsIn(await readEnvironment(await pathInside(targetDir, VENV)));
}

export async function versionsIn(environment: Environment | undefined): Promise<Map<string, string>> {
  const versions = new Map<string, string>();
  for (const [name, description] of environment?.described ?? []) {
    const version = await versionIn(join(environment?.packages ?? '', description));
    if (version !== undefined) versions.set(name, version);
  }
  return versions;
}

/** For the `version` of Python that fills it, such as `3.12`; without one, for that of its settings. */
export async function readEnvironment(folder: string, version?: string): Promise<Environment | undefined> {
  const packages = await sitePackages(folder, version);
  if (packages === undefined) return undefined;
  const names = (await readdir(packages).catch(absent)) ?? [];
  const descriptions = names.filter((name) => name.endsWith('.dist-info'));
  return {
    folder,
    packages,
    descriptions,
    described: new Map(descriptions.map((name) => [describedName(name), name])),
  };
}

/** What programs of Python make themselves: in an environment, among its programs and among its packages. */
const MADE = /^(bin|lib|lib64|include|share|Scripts|Lib|Include|pyvenv\.cfg|\.gitignore|\.lock|CACHEDIR\.TAG)$/;
const MADE_PROGRAM = /^((de)?activate|python|pypy|pip|pydoc|easy_install|wheel)/i;
const MADE_PACKAGE =
  /^(pip|setuptools|wheel|pkg_resources|_distutils_hack|distutils-precedence|_virtualenv|__pycache__)([-.].*)?$/;

/** Whether there is anything else in it, which somebody may miss. */
export async function holdsMore(folder: string): Promise<boolean> {
  const namesIn = async (path: string) => (await readdir(join(folder, path)).catch(absent)) ?? [];
  const libraries = ['Lib', ...(await namesIn('lib')).map((name) => join('lib', name))];
  const made = [
    ['.', MADE],
    ['bin', MADE_PROGRAM],
    ['Scripts', MADE_PROGRAM],
    ...libraries.map((library) => [join(library, 'site-packages'), MADE_PACKAGE] as const),
  ] as const;
  for (const [path, pattern] of made) if (!(await namesIn(path)).every((name) => pattern.test(name))) return true;
  return false;
}

/** The normal form of the name of the package that a folder describes. */
export function describedName(description: string): string {
  return normalName(description.split('-')[0] ?? '');
}

async function sitePackages(environment: string, version: string | undefined): Promise<string | undefined> {
  const windows = join(environment, 'Lib', 'site-packages');
  if (await readdir(windows).catch(absent)) return windows;
  const names = (await readdir(join(environment, 'lib')).catch(absent)) ?? [];
  const folders = names.filter((name) => /^(python|pypy)\d+\.\d+t?$/.test(name)).sort(inOrder);
  // After an upgrade of Python there are several, of which one is in use.
  const used = version ?? environmentVersion(await textOf(join(environment, SETTINGS)));
  const newest = version === undefined ? folders.at(-1) : undefined;
  const python = folders.find((name) => name.replace(/^\D+|t$/g, '') === used) ?? newest;
  return python && join(environment, 'lib', python, 'site-packages');
}

function inOrder(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** Such as `3.12`, as the settings of an environment say it. */
export function environmentVersion(settings: string | undefined): string | undefined {
  return /^version(?:_info)? *= *(\d+\.\d+)/m.exec(settings ?? '')?.[1];
}

export async function versionIn(description: string): Promise<string | undefined> {
  const metadata = await textOf(join(description, 'METADATA'));
  const version = /^Version: *(\S+)/m.exec(metadata ?? '')?.[1];
  return version === undefined ? undefined : normalVersion(version);
}

/** Undefined when there is none. */
export function textOf(path: string): Promise<string | undefined> {
  return readPlainText(path).catch(absent);
}
