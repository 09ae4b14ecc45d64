// The list of its files that a Python package leaves in an environment: whether they are as listed.
import { join, relative, resolve, sep } from 'node:path';
import { absent } from '../../lib/absent.ts';
import { fileDigest } from '../../lib/file-digest.ts';
import { InstallError } from './artifact-installer.ts';
import { type Environment, textOf } from './pypi-environment.ts';
import { isOfNoPackage } from './pypi-own-files.ts';
import { VENV } from './pypi-python.ts';

interface ListedFile {
  path: string;
  /** Without one, it may change. */
  digest: string | undefined;
}

/** Of which filesystems take none that is longer. */
const LONGEST_NAME = 255;

/** The first file of its list that is not as listed. */
export async function changedFile({ folder, packages }: Environment, description: string): Promise<string | undefined> {
  const listed = await listedFiles(packages, description);
  if (!listed) return `${description}/RECORD`;
  for (const { path, digest } of listed) {
    const file = resolve(packages, path);
    if (!isInside(file, folder)) return path;
    if (digest === undefined || isOfNoPackage(relative(folder, file).split(sep))) continue;
    if ((await fileDigest(file).catch(absentOrTooLong)) !== digest) return path;
  }
  return undefined;
}

/**
 * Relative to the environment, each as names: what is removed before something else takes the place of a package.
 * @throws InstallError when something is outside.
 */
export async function listedInside({ folder, packages }: Environment, description: string): Promise<string[][]> {
  const listed = ((await listedFiles(packages, description)) ?? []).map(({ path }) => resolve(packages, path));
  if (!listed.every((file) => isInside(file, folder)))
    throw new InstallError(
      `${description}/RECORD in ${VENV} names a file outside of it, which would be removed: remove ${VENV} and install again.`,
    );
  return listed
    .map((file) => relative(folder, file).split(sep))
    .filter((names) => !isOfNoPackage(names) && names.every((name) => Buffer.byteLength(name) <= LONGEST_NAME));
}

/** It is put there last: without it, there is only a part of a package. */
export async function hasList({ packages }: Environment, description: string): Promise<boolean> {
  return (await textOf(join(packages, description, 'RECORD'))) !== undefined;
}

export async function hasWhole(environment: Environment, name: string): Promise<boolean> {
  const description = environment.described.get(name);
  return description !== undefined && hasList(environment, description);
}

async function listedFiles(packages: string, description: string): Promise<ListedFile[] | undefined> {
  const record = await textOf(join(packages, description, 'RECORD'));
  return record?.split(/\r?\n/).flatMap((line) => {
    // Whatever follows its name: an installer may understand more of it.
    const [, quoted, plain, rest = ''] = /^(?:"((?:[^"]|"")*)"|([^,]*))(,.*)?$/.exec(line) ?? [];
    const path = quoted?.replaceAll('""', '"') ?? plain ?? '';
    const [, digest] = /^,sha256=([\w-]+)=*,/.exec(rest) ?? [];
    const known = digest && `sha256:${Buffer.from(digest, 'base64url').toString('hex')}`;
    return path === '' ? [] : [{ path, digest: known }];
  });
}

function absentOrTooLong(error: NodeJS.ErrnoException): undefined {
  return error.code === 'ENAMETOOLONG' ? undefined : absent(error);
}

function isInside(file: string, folder: string): boolean {
  return file.startsWith(`${folder}${sep}`) && !file.includes('\0');
}
