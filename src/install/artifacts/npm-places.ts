// Where what npm makes goes inside a target: no link may be on the way there.
import { readdir } from 'node:fs/promises';
import { pathInside } from '../../lib/path-inside.ts';

export const PROJECT_FILES = ['package.json', 'package-lock.json'] as const;
/** What npm reads beside them. */
export const READ_FILES = ['.npmrc', 'npm-shrinkwrap.json'] as const;
export const HIDDEN_LOCK = 'node_modules/.package-lock.json';

/** @throws PathError when a link would lead out of the target. */
export async function checkNpmPlaces(name: string, targetDir: string): Promise<void> {
  const files = [...PROJECT_FILES, ...READ_FILES, 'node_modules/.bin', HIDDEN_LOCK];
  for (const path of [...files, `node_modules/${name}`]) await pathInside(targetDir, path);
  await checkModules('node_modules', targetDir);
}

/** Packages have folders of packages too. A package that is a link itself is replaced, not written through. */
async function checkModules(modules: string, targetDir: string): Promise<void> {
  const place = await pathInside(targetDir, modules);
  const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = `${modules}/${entry.name}`;
    if (entry.name.startsWith('@')) await checkModules(path, targetDir);
    else if (entry.isDirectory()) await checkModules(`${path}/node_modules`, targetDir);
  }
}
