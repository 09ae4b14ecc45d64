// Links in a checkout: those that lead out of it are refused.
import { readdir, readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { InstallError } from './artifact-installer.ts';

/** @throws InstallError that names the first link whose target is not inside the folder. */
export async function assertLinksStayInside(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const target = await readlink(path);
    const name = relative(folder, path);
    if (isAbsolute(target) || isOutside(folder, resolve(dirname(path), target)))
      throw new InstallError(`The repository holds the link '${name}', which leads out of it; it was not installed.`);
    if (isInGitFolder(folder, resolve(dirname(path), target)))
      throw new InstallError(`The repository holds the link '${name}' into '.git'; it was not installed.`);
  }
}

function isOutside(folder: string, target: string): boolean {
  return target !== folder && !target.startsWith(`${folder}${sep}`);
}

function isInGitFolder(folder: string, target: string): boolean {
  return relative(folder, target).split(sep)[0]?.toLowerCase() === '.git';
}
