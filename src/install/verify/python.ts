// Whether a Python package in a virtual environment is still what was installed, by its own list of files.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { LockedArtifact } from '../contract.ts';
import { absent } from './adapters.ts';
import { different, type Found, missing, SAME } from './check.ts';

/** Nothing of the environment is run: it may have been changed. */
export async function verifyPythonPackage(
  { resolved, spec }: LockedArtifact,
  { targetDir }: { targetDir: string },
): Promise<Found> {
  const environment = join(targetDir, '.venv');
  const [name = '', version = ''] = (resolved ?? '').split('==');
  const packages = await sitePackages(environment);
  if (packages === undefined) return missing('there is no virtual environment');
  const wanted = normalised(name || String(spec.package ?? ''));
  const installed = (await readdir(packages)).find((entry) => {
    const [, found] = /^(.+?)-[^-]+\.dist-info$/.exec(entry) ?? [];
    return found !== undefined && normalised(found) === wanted;
  });
  if (installed === undefined) return missing('the package is gone');
  const found = /-([^-]+)\.dist-info$/.exec(installed)?.[1];
  if (found !== version) return different(`is of version ${found}, and should be of ${version}`);
  const changed = await changedFile(packages, installed, environment);
  return changed === undefined ? SAME : different(`${changed} was changed`);
}

async function sitePackages(environment: string): Promise<string | undefined> {
  const windows = join(environment, 'Lib', 'site-packages');
  if (await readdir(windows).catch(absent)) return windows;
  const versions = (await readdir(join(environment, 'lib')).catch(absent)) ?? [];
  const [python] = versions.filter((name) => name.startsWith('python')).sort();
  return python && join(environment, 'lib', python, 'site-packages');
}

/** PEP 503. */
function normalised(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-');
}

/** The first file of its list that is not as listed; without a digest it is a file that may change. */
async function changedFile(packages: string, installed: string, environment: string): Promise<string | undefined> {
  const record = await readFile(join(packages, installed, 'RECORD'), 'utf8').catch(absent);
  if (record === undefined) return `${installed}/RECORD`;
  for (const line of record.split('\n')) {
    const [, path = '', digest] = /^"?(.*?)"?,sha256=([\w-]+),\d*\r?$/.exec(line) ?? [];
    if (digest === undefined) continue;
    const file = resolve(packages, path);
    if (!file.startsWith(`${environment}${sep}`)) return path;
    const hash = createHash('sha256');
    const isThere = await pipeline(createReadStream(file), hash).then(() => true, absent);
    if (!isThere || hash.digest('base64url') !== digest) return path;
  }
  return undefined;
}
