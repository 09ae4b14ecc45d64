// What npm has changed in a skeleton of a project, and the same in the project itself.
import { randomUUID } from 'node:crypto';
import { lstat, readdir, readFile, readlink, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../../lib/absent.ts';
import { holdPath } from '../../lib/held-folder.ts';
import { placeBelow } from '../../lib/place-tree.ts';
import { type Replaced, replaceInside } from '../../lib/replace-inside.ts';
import type { InstallContext } from './artifact-installer.ts';
import { MODULES, type Skeleton, STANDS_IN } from './npm-skeleton.ts';
import { removeHeld } from './remove-held.ts';

export interface NpmChanges {
  /** Packages, links and programs that are new or others than before. */
  brought: string[];
  /** What is not there any more. */
  removed: string[];
  /** Of what is new, what has stand-ins in it: npm kept them, and what they stand for would go with the old. */
  hollow: string[];
  /** Folders that only hold others, each after those inside of it: they go when nothing else is in them. */
  emptied: string[];
}

export async function findChanges({ dir, mark, standIns, modules, folders }: Skeleton): Promise<NpmChanges> {
  const brought: string[] = [];
  const hollow: string[] = [];

  async function look(path: string): Promise<void> {
    for (const entry of (await readdir(join(dir, path), { withFileTypes: true }).catch(absent)) ?? []) {
      const inside = `${path}/${entry.name}`;
      if (!entry.isDirectory()) {
        const isHidden = entry.name.startsWith('.') && !path.endsWith('/.bin');
        if (!isHidden && (await isOther(inside))) brought.push(inside);
      } else if (entry.name === '.bin' || entry.name.startsWith('@')) await look(inside);
      else if (entry.name.startsWith('.')) continue;
      else if (await isStandIn(inside)) await look(`${inside}/${MODULES}`);
      else {
        brought.push(inside);
        if (await hasStandIn(inside)) hollow.push(inside);
      }
    }
  }

  async function isStandIn(path: string): Promise<boolean> {
    if (!standIns.has(path)) return false;
    return (await readFile(join(dir, path, STANDS_IN), 'utf8').catch(() => '')) === mark;
  }

  async function hasStandIn(path: string): Promise<boolean> {
    for (const each of standIns.keys()) if (each.startsWith(`${path}/`) && (await isStandIn(each))) return true;
    return false;
  }

  async function isOther(path: string): Promise<boolean> {
    const before = standIns.get(path);
    const leadsTo = await readlink(join(dir, path)).catch(() => undefined);
    if (leadsTo !== undefined || before === undefined) return leadsTo !== before;
    return (await lstat(join(dir, path))).size > 0;
  }

  for (const each of modules) await look(each);
  const gone = await Promise.all(
    [...standIns.keys()].map(async (path) => ((await isThere(join(dir, path))) ? [] : [path])),
  );
  return { brought, hollow, removed: topmost(gone.flat(), brought), emptied: await removeEmptied(folders, dir) };
}

/** npm leaves some of them. */
async function removeEmptied(folders: readonly string[], dir: string): Promise<string[]> {
  const emptied: string[] = [];
  for (const path of folders.toReversed())
    if (
      await rmdir(join(dir, path)).then(
        () => true,
        ({ code }) => code === 'ENOENT',
      )
    )
      emptied.push(path);
  return emptied;
}

/** By itself, or with the package that it is in. */
export function isBrought(path: string, { brought }: NpmChanges): boolean {
  return brought.some((each) => path === each || path.startsWith(`${each}/`));
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(absent)) !== undefined;
}

/** Without what goes with something else. */
function topmost(paths: readonly string[], replaced: readonly string[]): string[] {
  const all = new Set([...paths, ...replaced]);
  return paths.filter((path) => {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
      if (all.has(path.slice(0, end))) return false;
    return true;
  });
}

/** All of it or nothing: `whenIn` is done last, and what it fails with undoes the rest. @throws PathError */
export async function bringIn(
  { brought, removed, emptied }: NpmChanges,
  { dir, leftovers }: Skeleton,
  { targetDir, scratchDir }: Pick<InstallContext, 'targetDir' | 'scratchDir'>,
  whenIn: () => Promise<void>,
): Promise<void> {
  // First onto the filesystem of the target, so that a full disk is noticed before anything is changed.
  const staged: [path: string, from: string | undefined][] = removed.map((path) => [path, undefined]);
  for (const path of brought) {
    const name = `new-${randomUUID()}`;
    await placeBelow(join(dir, path), { place: scratchDir }, name);
    staged.push([path, join(scratchDir, name)]);
  }
  const replaced: Replaced[] = [];
  try {
    for (const [path, from] of staged) replaced.push(await replaceInside(targetDir, path, from, scratchDir));
    await whenIn();
  } catch (error) {
    for (const each of replaced.reverse()) await each.undo().catch(() => {});
    throw error;
  }
  // What cannot be removed any more is in nobody's way.
  for (const each of replaced) await each.finish().catch(() => {});
  for (const path of leftovers) await removeHeld(targetDir, path).catch(() => {});
  for (const path of emptied) await removeEmpty(targetDir, path).catch(() => {});
}

async function removeEmpty(targetDir: string, path: string): Promise<void> {
  const names = path.split('/');
  const name = names.pop() ?? '';
  const parent = await holdPath(targetDir, names);
  await (parent && rmdir(join(parent.place, name)).finally(parent.close));
}
