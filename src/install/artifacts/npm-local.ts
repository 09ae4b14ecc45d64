// Folders of a project that npm takes packages from: its workspaces, and what its package.json names by a path.
import { glob } from 'node:fs/promises';
import { posix, sep } from 'node:path';
import { asObject, type JsonObject } from '../../lib/json.ts';
import { relativePathFault } from '../../lib/path-inside.ts';
import { InstallError } from './artifact-installer.ts';

const SECTIONS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const;
/** Without the word, it is a path when it begins as one. */
const BY_PATH = /^(?:(?:file|link):(?:\/\/(?=\/))?|(?=\.{1,2}\/|~?\/))(.+)$/i;
const MOST_WORKSPACES = 10_000;

/** What the package.json of the folder `at` names by a path, relative to the target. @throws InstallError when that is outside of it. */
export function namedPaths(description: JsonObject, at: string): string[] {
  const named = SECTIONS.flatMap((section) => Object.entries(asObject(description[section])));
  return named.flatMap(([name, wanted]) => {
    const [, written] = (typeof wanted === 'string' && BY_PATH.exec(wanted)) || [];
    if (written === undefined) return [];
    const path = posix.join(at, written);
    if (/^~?\//.test(written) || path === '..' || path.startsWith('../'))
      throw new InstallError(
        `package.json takes '${name.slice(0, 120)}' from '${written.slice(0, 120)}', which is not inside of the target: install into another target.`,
      );
    return isUsable(path) ? [path] : [];
  });
}

/** By the patterns of a project; some more than npm would find do no harm. */
export async function workspacesOf(description: JsonObject, targetDir: string): Promise<string[]> {
  const { workspaces } = description;
  const written = Array.isArray(workspaces) ? workspaces : asObject(workspaces).packages;
  const patterns = (Array.isArray(written) ? written : [])
    .filter((pattern) => typeof pattern === 'string')
    .map((pattern) => pattern.replace(/^\.?\/+|\/+$/g, ''));
  const found: string[] = [];
  for await (const path of glob(patterns, {
    cwd: targetDir,
    exclude: ['**/node_modules', '**/.git', '.hub', '.venv'],
  })) {
    found.push(path.split(sep).join('/'));
    if (found.length > MOST_WORKSPACES)
      throw new InstallError(`The workspaces of package.json name more than ${MOST_WORKSPACES} folders.`);
  }
  return found.filter(isUsable);
}

function isUsable(path: string): boolean {
  return path !== '.' && relativePathFault(path) === undefined && !path.split('/').includes('node_modules');
}
