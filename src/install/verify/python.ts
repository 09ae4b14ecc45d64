// Whether Python packages in a virtual environment are still what was installed, by their own lists of files.
import { join } from 'node:path';
import { pathInside } from '../../lib/path-inside.ts';
import { type Environment, readEnvironment, versionIn } from '../artifacts/pypi-environment.ts';
import { changedFile } from '../artifacts/pypi-record.ts';
import { normalName } from '../artifacts/pypi-spec.ts';
import { normalVersion } from '../artifacts/pypi-version.ts';
import type { LockedArtifact } from '../contract.ts';
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

async function verifyOne(resolved: string, environment: Environment): Promise<Found> {
  const { packages, described } = environment;
  const [name = '', version = ''] = resolved.split('==');
  const description = described.get(normalName(name));
  if (description === undefined) return missing(`${name} is gone`);
  const found = await versionIn(join(packages, description));
  if (found !== normalVersion(version))
    return different(`${name} is of version ${found ?? 'none'}, and should be of ${version}`);
  const changed = await changedFile(environment, description);
  return changed === undefined ? SAME : different(`${changed} was changed`);
}
