// Links in a checkout: those that lead out of it are refused.
import { readdir, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { InstallError } from './artifact-installer.ts';

/** @throws InstallError that names the first link whose target is not inside of it. */
export async function assertLinksStayInside(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const target = await readlink(path);
    const name = relative(folder, path);
    if (isAbsolute(target) || isOutside(folder, await placeOf(folder, path, target)))
      throw new InstallError(`The repository holds the link '${name}', which leads out of it; it was not installed.`);
    if (isInGitFolder(folder, resolve(dirname(path), target)))
      throw new InstallError(`The repository holds the link '${name}' into '.git'; it was not installed.`);
  }
}

/** Undefined when that cannot be told. */
async function placeOf(folder: string, path: string, target: string): Promise<string | undefined> {
  const isPlain = !target
    .replace(/^(\.{0,2}\/)+/, '')
    .split('/')
    .includes('..');
  // Behind a name that is a link itself, `..` leads up from where that link leads to, not back.
  if (isPlain) return resolve(dirname(path), target);
  // The folder itself may be reached through a link: it is held open.
  const found = await realpath(path).catch(() => undefined);
  return found && join(folder, relative(await realpath(folder), found));
}

function isOutside(folder: string, place: string | undefined): boolean {
  return place !== folder && !place?.startsWith(`${folder}${sep}`);
}

function isInGitFolder(folder: string, target: string): boolean {
  return relative(folder, target).toLowerCase().split(sep).includes('.git');
}
