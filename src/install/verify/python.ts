// Whether Python packages in a virtual environment are still what was installed, by their own lists of files.
import { readdir } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { fileDigest } from '../../lib/file-digest.ts';
import { pathInside } from '../../lib/files.ts';
import { openPlainFile } from '../../lib/plain-file.ts';
import { normalName } from '../artifacts/pypi-spec.ts';
import { VENV } from '../artifacts/pypi-venv.ts';
import type { LockedArtifact } from '../contract.ts';
import { absent } from './adapters.ts';
import { different, type Found, missing, SAME } from './check.ts';

interface Environment {
  folder: string;
  packages: string;
  /** Normal form of a name → the folder that describes the package. */
  described: ReadonlyMap<string, string>;
}

/** Nothing of the environment is run: it may have been changed. What came along is looked at too. */
export async function verifyPythonPackage(
  { resolved, path, dependencies = [] }: LockedArtifact,
  { targetDir }: { targetDir: string },
): Promise<Found> {
  // Its marker did not fit the machine, so that there was nothing to install.
  if (resolved === null || path === null) return SAME;
  const environment = await readEnvironment(await pathInside(targetDir, path));
  if (!environment) return missing('there is no virtual environment');
  for (const each of [resolved, ...dependencies.map((dependency) => dependency.resolved)]) {
    const found = await verifyOne(each, environment);
    if (found.outcome !== 'same') return found;
  }
  return SAME;
}

/** What is in the virtual environment of a target, by the normal form of its name; nothing where there is none. */
export async function installedVersions(targetDir: string): Promise<Map<string, string>> {
  const environment = await readEnvironment(await pathInside(targetDir, VENV));
  const versions = new Map<string, string>();
  for (const [name, description] of environment?.described ?? []) {
    const version = await versionIn(join(environment?.packages ?? '', description));
    if (version !== undefined) versions.set(name, version);
  }
  return versions;
}

async function readEnvironment(folder: string): Promise<Environment | undefined> {
  const packages = await sitePackages(folder);
  if (packages === undefined) return undefined;
  const names = ((await readdir(packages).catch(absent)) ?? []).filter((name) => name.endsWith('.dist-info'));
  return { folder, packages, described: new Map(names.map((name) => [normalName(name.split('-')[0] ?? ''), name])) };
}

async function sitePackages(environment: string): Promise<string | undefined> {
  const windows = join(environment, 'Lib', 'site-packages');
  if (await readdir(windows).catch(absent)) return windows;
  const versions = (await readdir(join(environment, 'lib')).catch(absent)) ?? [];
  const [python] = versions.filter((name) => name.startsWith('python')).sort();
  return python && join(environment, 'lib', python, 'site-packages');
}

async function verifyOne(resolved: string, { folder, packages, described }: Environment): Promise<Found> {
  const [name = '', version = ''] = resolved.split('==');
  const description = described.get(normalName(name));
  if (description === undefined) return missing(`${name} is gone`);
  const found = await versionIn(join(packages, description));
  if (found !== version) return different(`${name} is of version ${found ?? 'none'}, and should be of ${version}`);
  const changed = await changedFile(packages, description, folder);
  return changed === undefined ? SAME : different(`${changed} was changed`);
}

async function versionIn(description: string): Promise<string | undefined> {
  const metadata = await textOf(join(description, 'METADATA'));
  return /^Version: *(\S+)/m.exec(metadata ?? '')?.[1];
}

/** The first file of its list that is not as listed; those without a digest may change. */
async function changedFile(packages: string, description: string, environment: string): Promise<string | undefined> {
  const record = await textOf(join(packages, description, 'RECORD'));
  if (record === undefined) return `${description}/RECORD`;
  for (const line of record.split('\n')) {
    const [, path = '', digest] = /^"?(.*?)"?,sha256=([\w-]+),\d*\r?$/.exec(line) ?? [];
    if (digest === undefined) continue;
    const file = resolve(packages, path);
    if (!file.startsWith(`${environment}${sep}`)) return path;
    const listed = `sha256:${Buffer.from(digest, 'base64url').toString('hex')}`;
    if ((await fileDigest(file).catch(absent)) !== listed) return path;
  }
  return undefined;
}

/** Undefined when there is none. */
async function textOf(path: string): Promise<string | undefined> {
  const file = await openPlainFile(path).catch(absent);
  return file?.readFile('utf8').finally(() => file.close());
}
