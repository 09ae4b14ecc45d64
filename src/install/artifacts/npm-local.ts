// Folders of a project that npm takes packages from: its workspaces, and what its package.json or its lockfile names by a path.
import { readdir, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { absent } from '../../lib/absent.ts';
import { type HeldFolder, holdBelow, holdFolder } from '../../lib/held-folder.ts';
import { asObject, type JsonObject } from '../../lib/json.ts';
import { relativePathFault } from '../../lib/path-inside.ts';
import { InstallError } from './artifact-installer.ts';

const SECTIONS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const;
/** Without the word, it is a path when it begins as one. */
const BY_PATH = /^(?:(?:file|link):(?:\/\/(?=\/))?|(?=\.{1,2}\/|~?\/))(.+)$/i;

/** What the package.json of the folder `at` names by a path, relative to the target. @throws InstallError when that is outside of it. */
export function namedPaths(description: JsonObject, at: string): string[] {
  const named = SECTIONS.flatMap((section) => Object.entries(asObject(description[section])));
  return named.flatMap(([name, wanted]) => {
    const [, written] = (typeof wanted === 'string' && BY_PATH.exec(wanted)) || [];
    if (written === undefined) return [];
    if (leadsOut(written, at)) throw outside('package.json', name, written);
    const path = posix.join(at, written);
    return isUsable(path) ? [path] : [];
  });
}

/** npm does what a lockfile says of folders: it makes programs in them executable. @throws InstallError */
export function assertLockInside(file: string, lock: JsonObject): void {
  for (const [key, value] of Object.entries(asObject(lock.packages))) {
    const { resolved, link } = asObject(value);
    if (leadsOut(key, '')) throw outside(file, key, key);
    if (link && typeof resolved === 'string' && leadsOut(resolved, '')) throw outside(file, key, resolved);
  }
  // As older versions wrote it.
  const waiting = [asObject(lock.dependencies)];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    for (const [name, value] of Object.entries(next)) {
      const { version, resolved, dependencies } = asObject(value);
      for (const text of [version, resolved]) {
        const [, written] = (typeof text === 'string' && BY_PATH.exec(text)) || [];
        if (written !== undefined && leadsOut(written, '')) throw outside(file, name, written);
      }
      waiting.push(asObject(dependencies));
    }
  }
}

function leadsOut(written: string, at: string): boolean {
  const path = posix.join(at, written.replaceAll('\\', '/'));
  return /^~?\//.test(written) || /^[a-z]:/i.test(written) || path === '..' || path.startsWith('../');
}

function outside(file: string, name: string, written: string): InstallError {
  return new InstallError(
    `${file} takes '${name.slice(0, 120)}' from '${written.slice(0, 120)}', which is not inside of the target: install into another target.`,
  );
}

function isUsable(path: string): boolean {
  return path !== '.' && relativePathFault(path) === undefined && !path.split('/').includes('node_modules');
}

const MOST_PATTERNS = 200;
const MOST_NAMES = 32;
const LONGEST_PATTERN = 500;
const MOST_CHOICES = 20;
const MOST_FOLDERS = 20_000;
/** What names in patterns may hold, and at most one star: of the rest, some would take for ever to be read. */
const NAME = /^[^{}[\]()\\?*]*\*?[^{}[\]()\\?*]*$/;

/** By the patterns of a project; those with a `!` only leave some out, and more than npm would find do no harm. @throws InstallError */
export async function workspacesOf(
  description: JsonObject,
  { targetDir, signal }: { targetDir: string; signal: AbortSignal },
): Promise<string[]> {
  const { workspaces } = description;
  const written = Array.isArray(workspaces) ? workspaces : asObject(workspaces).packages;
  const patterns = (Array.isArray(written) ? written : []).filter((each) => typeof each === 'string');
  if (patterns.length > MOST_PATTERNS) throw unreadable(patterns[0] ?? '');
  const found = new Set<string>();
  let seen = 0;

  async function look(held: HeldFolder, path: string, [name, ...rest]: readonly string[]): Promise<void> {
    signal.throwIfAborted();
    seen += 1;
    if (seen > MOST_FOLDERS)
      throw new InstallError(`The workspaces of package.json are among more than ${MOST_FOLDERS} folders.`);
    if (name === undefined) return void (path !== '' && found.add(path));
    if (name === '**') await look(held, path, rest);
    for (const entry of await readdir(held.place, { withFileTypes: true })) {
      if (entry.isFile() || !isNamed(entry.name, name)) continue;
      const inside = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isSymbolicLink() && name !== '**') await assertNoFolder(join(held.place, entry.name), inside);
      if (!entry.isDirectory()) continue;
      const next = await holdBelow(held, entry.name).catch(absent);
      await (next && look(next, inside, name === '**' ? ['**', ...rest] : rest).finally(next.close));
    }
  }

  for (const names of patterns.filter((each) => !each.startsWith('!')).flatMap(readPattern)) {
    const root = await holdFolder(targetDir);
    await (root && look(root, '', names).finally(root.close));
  }
  return [...found];
}

/** The names of each of the patterns that it stands for. @throws InstallError */
function readPattern(pattern: string): string[][] {
  if (pattern.length > LONGEST_PATTERN || pattern.split('{').length > 3) throw unreadable(pattern);
  return choicesOf(pattern).map((choice) => {
    const names = choice
      .split('/')
      .filter((name, at, all) => !['', '.'].includes(name) && !(name === '**' && all[at - 1] === '**'));
    const isRead =
      names.length <= MOST_NAMES && names.every((name) => name === '**' || (NAME.test(name) && name !== '..'));
    if (!isRead) throw unreadable(pattern);
    return names;
  });
}

/** `{a,b}/c` is `a/c` and `b/c`. */
function choicesOf(pattern: string): string[] {
  const [whole, listed = ''] = /\{([^{}]*)\}/.exec(pattern) ?? [];
  if (whole === undefined) return [pattern];
  const choices = listed.split(',');
  if (choices.length > MOST_CHOICES || listed.includes('..')) throw unreadable(pattern);
  return choices.flatMap((choice) => choicesOf(pattern.replace(whole, () => choice)));
}

function isNamed(entry: string, name: string): boolean {
  if (entry === 'node_modules' || (entry.startsWith('.') && !name.startsWith('.'))) return false;
  if (name === '**') return true;
  const [before = '', after] = name.split('*');
  if (after === undefined) return entry === before;
  return entry.length >= before.length + after.length && entry.startsWith(before) && entry.endsWith(after);
}

async function assertNoFolder(link: string, path: string): Promise<void> {
  if (
    await stat(link).then(
      (found) => found.isDirectory(),
      () => false,
    )
  )
    throw linkedWorkspace(path);
}

export function linkedWorkspace(path: string): InstallError {
  return new InstallError(
    `The workspace '${path.slice(0, 120)}' is a link, which is not followed: install into another target.`,
  );
}

function unreadable(pattern: string): InstallError {
  return new InstallError(
    `The workspaces of package.json have the pattern '${pattern.slice(0, 120)}', which installs do not read: name them by '*' and '**', or install into another target.`,
  );
}
