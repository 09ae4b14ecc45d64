// A project as npm sees it, out of reach of whoever can write to the target: its files, and of each package only the description.
// npm follows links, and would follow those that are put into a target while it is at work.
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, posix, relative, resolve, sep } from 'node:path';
import { absent } from '../../lib/absent.ts';
import { type HeldFolder, holdBelow, holdPath } from '../../lib/held-folder.ts';
import type { JsonObject } from '../../lib/json.ts';
import { relativePathFault } from '../../lib/path-inside.ts';
import { isBesideName } from '../../lib/place-tree.ts';
import { openPlainFile } from '../../lib/plain-file.ts';
import type { InstallContext } from './artifact-installer.ts';
import { linkedWorkspace, namedPaths, workspacesOf } from './npm-local.ts';
import { parsedProject } from './npm-project.ts';

export const MODULES = 'node_modules';
/** In the folder of every package that stands for one of the target, with a text that nobody else knows. */
export const STANDS_IN = '.hub-stands-in';
const LARGEST_FILE = 200_000_000;

export interface Skeleton {
  readonly dir: string;
  /** The text that tells stand-ins from what an archive may hold. */
  readonly mark: string;
  /** What stands for something in the target, by its path there; of a link also where it leads. */
  readonly standIns: ReadonlyMap<string, string>;
  /** Folders of packages: that of the project, and those of its workspaces. */
  readonly modules: readonly string[];
  /** All folders that packages, their scopes and programs are in, each before those inside of it. */
  readonly folders: readonly string[];
  /** What an install left that was ended while it replaced something. */
  readonly leftovers: readonly string[];
}

/** Files of the project, its package.json among them, are in `dir` already. @throws InstallError */
export async function makeSkeleton(
  dir: string,
  { targetDir, signal }: Pick<InstallContext, 'targetDir' | 'signal'>,
): Promise<Skeleton> {
  const mark = randomUUID();
  const standIns = new Map<string, string>();
  const folders: string[] = [];
  const leftovers: string[] = [];
  const waiting: string[] = [];

  async function copyModules(path: string, held: HeldFolder): Promise<void> {
    await mkdir(join(dir, path), { recursive: true });
    folders.push(path);
    for (const entry of await readdir(held.place, { withFileTypes: true })) {
      const inside = `${path}/${entry.name}`;
      const below = (work: Copy) => withFolder(held, entry.name, (folder) => work(inside, folder));
      if (isBesideName(entry.name)) leftovers.push(inside);
      else if (entry.name === '.bin' && entry.isDirectory()) await below(copyPrograms);
      else if (entry.name.startsWith('.')) continue;
      else if (entry.isSymbolicLink()) await copyLink(inside, held);
      else if (!entry.isDirectory()) await standFor(inside);
      else await below(entry.name.startsWith('@') ? copyModules : copyPackage);
    }
  }

  async function copyPackage(path: string, held: HeldFolder): Promise<void> {
    await mkdir(join(dir, path));
    await writeFile(join(dir, path, STANDS_IN), mark);
    standIns.set(path, '');
    await copyFile(held, 'package.json', path);
    await withFolder(held, MODULES, (folder) => copyModules(`${path}/${MODULES}`, folder));
  }

  async function copyPrograms(path: string, held: HeldFolder): Promise<void> {
    await mkdir(join(dir, path));
    folders.push(path);
    for (const entry of await readdir(held.place, { withFileTypes: true })) {
      if (entry.isSymbolicLink()) await copyLink(`${path}/${entry.name}`, held);
      else await standFor(`${path}/${entry.name}`);
    }
  }

  async function copyLink(path: string, held: HeldFolder): Promise<void> {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const text = await readlink(join(held.place, name));
    const leadsTo = resolve(targetDir, dirname(path), text);
    const inTarget = relative(targetDir, leadsTo).split(sep).join('/');
    const isRoot = inTarget === '';
    const isInside = isRoot || relativePathFault(inTarget) === undefined;
    // Packages have stand-ins of their own, but not those in folders that other programs keep for themselves.
    const hasStandIn = inTarget.split('/').includes(MODULES) && !inTarget.includes('/.');
    if (isInside && !isRoot && !hasStandIn) waiting.push(inTarget);
    // Never into the target: there, the same words lead to the copy, or to what is outside of both.
    const toCopy = isAbsolute(text) ? relative(dirname(path), inTarget) || '.' : text;
    const written = isInside ? toCopy : leadsTo;
    await symlink(written, join(dir, path));
    standIns.set(path, written);
  }

  async function standFor(path: string): Promise<void> {
    await writeFile(join(dir, path), '');
    standIns.set(path, '');
  }

  async function copyFile(held: HeldFolder, name: string, path: string): Promise<Buffer | undefined> {
    const bytes = await readSome(join(held.place, name));
    if (bytes) await writeFile(join(dir, path, name), bytes);
    return bytes;
  }

  /** A folder that packages are taken from, or an archive. */
  async function copyLocal(path: string): Promise<JsonObject> {
    const names = path.split('/');
    const name = names.pop() ?? '';
    const parent = await holdPath(targetDir, names);
    if (!parent) return {};
    try {
      await mkdir(join(dir, ...names), { recursive: true });
      const held = await holdBelow(parent, name).catch(() => undefined);
      if (!held) return await copyFile(parent, name, names.join('/')).then(() => ({}));
      return await copyFolder(path, held).finally(held.close);
    } finally {
      await parent.close();
    }
  }

  async function copyFolder(path: string, held: HeldFolder): Promise<JsonObject> {
    await mkdir(join(dir, path), { recursive: true });
    const description = await copyFile(held, 'package.json', path);
    // Without it, npm would take a package of that name from its registry.
    if (!description && (await isLink(join(held.place, 'package.json')))) throw linkedWorkspace(`${path}/package.json`);
    await withFolder(held, MODULES, (folder) => copyModules(`${path}/${MODULES}`, folder));
    return parsedProject(description);
  }

  /** Of packages that are not there: npm makes those executable only whose links it makes as well. */
  async function forgetPrograms(): Promise<void> {
    for (const [path, leadsTo] of standIns) {
      const [, of] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(posix.join(dirname(path), leadsTo)) ?? [];
      if (!/\/\.bin\/[^/]+$/.test(path) || isAbsolute(leadsTo) || of === undefined || standIns.has(of)) continue;
      await rm(join(dir, path));
      standIns.delete(path);
    }
  }

  const project = parsedProject(await readSome(join(dir, 'package.json')));
  waiting.push(...namedPaths(project, ''), ...(await workspacesOf(project, { targetDir, signal })));
  const modules = await holdPath(targetDir, [MODULES]);
  await (modules && copyModules(MODULES, modules).finally(modules.close));
  const locals = new Set<string>();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (locals.has(path)) continue;
    locals.add(path);
    waiting.push(...namedPaths(await copyLocal(path), path));
  }
  await forgetPrograms();
  const modulesOfLocals = [...locals].map((path) => `${path}/${MODULES}`);
  return { dir, mark, standIns, leftovers, folders, modules: [MODULES, ...modulesOfLocals] };
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(absent))?.isSymbolicLink() ?? false;
}

type Copy = (path: string, held: HeldFolder) => Promise<void>;

/** Nothing, where it is not there or no folder. */
async function withFolder(above: HeldFolder, name: string, work: (held: HeldFolder) => Promise<void>): Promise<void> {
  const held = await holdBelow(above, name).catch(absent);
  await (held && work(held).finally(held.close));
}

/** Undefined where no file is, or one that is too large to be what it should. */
async function readSome(path: string): Promise<Buffer | undefined> {
  // One that is a link is for nobody who works on a copy.
  const file = await openPlainFile(path).catch((error) => (error.code === 'ELOOP' ? undefined : absent(error)));
  try {
    const { size = 0 } = (await file?.stat()) ?? {};
    return size > LARGEST_FILE ? undefined : await file?.readFile();
  } finally {
    await file?.close();
  }
}
