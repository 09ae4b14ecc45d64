// Whether Python packages in a virtual environment are still what was installed, by their own lists of files.
import { join, resolve, sep } from 'node:path';
import { fileDigest } from '../../lib/file-digest.ts';
import { pathInside } from '../../lib/files.ts';
import { type Environment, readEnvironment, textOf, versionIn } from '../artifacts/pypi-environment.ts';
import { normalName } from '../artifacts/pypi-spec.ts';
import { normalVersion } from '../artifacts/pypi-version.ts';
import type { LockedArtifact } from '../contract.ts';
import { absent } from './adapters.ts';
import { different, type Found, missing, SAME } from './check.ts';

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

async function verifyOne(resolved: string, { folder, packages, described }: Environment): Promise<Found> {
  const [name = '', version = ''] = resolved.split('==');
  const description = described.get(normalName(name));
  if (description === undefined) return missing(`${name} is gone`);
  const found = await versionIn(join(packages, description));
  if (found !== normalVersion(version))
    return different(`${name} is of version ${found ?? 'none'}, and should be of ${version}`);
  const changed = await changedFile(packages, description, folder);
  return changed === undefined ? SAME : different(`${changed} was changed`);
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
