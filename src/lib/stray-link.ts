// Symbolic links in a folder of somebody else's making: whether one of them leads out of it.
import { readdir, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

interface StrayLink {
  /** Relative to the folder. */
  path: string;
  leads: 'out' | 'into .git';
}

/** The first link that leads out of the folder, or into the `.git` of a repository in it. */
export async function findStrayLink(folder: string): Promise<StrayLink | undefined> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isSymbolicLink()) continue;
    const link = join(entry.parentPath, entry.name);
    const target = await readlink(link);
    const path = relative(folder, link);
    if (isAbsolute(target) || isOutside(folder, await endOf(folder, link, target))) return { path, leads: 'out' };
    if (isInGitFolder(folder, resolve(dirname(link), target))) return { path, leads: 'into .git' };
  }
  return undefined;
}

/** Undefined when that cannot be told. */
async function endOf(folder: string, link: string, target: string): Promise<string | undefined> {
  const isPlain = !target
    .replace(/^(\.{0,2}\/)+/, '')
    .split('/')
    .includes('..');
  // Behind a name that is a link itself, `..` leads up from where that link leads to, not back.
  if (isPlain) return resolve(dirname(link), target);
  const found = await realpath(link).catch(() => undefined);
  return found && join(folder, relative(await realpath(folder), found));
}

function isOutside(folder: string, place: string | undefined): boolean {
  return place !== folder && !place?.startsWith(`${folder}${sep}`);
}

function isInGitFolder(folder: string, target: string): boolean {
  return relative(folder, target).toLowerCase().split(sep).includes('.git');
}
