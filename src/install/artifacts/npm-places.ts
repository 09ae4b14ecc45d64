// Where npm writes inside a target: it follows links, so that none may be on its way.
import { readdir } from 'node:fs/promises';
import { pathInside } from '../../lib/path-inside.ts';

export const PROJECT_FILES = ['package.json', 'package-lock.json'] as const;

/** @throws PathError when a link could lead npm out of the target. */
export async function checkNpmPlaces(name: string, targetDir: string): Promise<void> {
  const files = [...PROJECT_FILES, '.npmrc', 'node_modules/.bin', 'node_modules/.package-lock.json'];
  for (const path of [...files, `node_modules/${name}`]) await pathInside(targetDir, path);
  await checkModules('node_modules', targetDir);
}

/** Packages have folders of packages too. A package that is a link itself is moved aside by npm, not written through. */
async function checkModules(modules: string, targetDir: string): Promise<void> {
  const place = await pathInside(targetDir, modules);
  const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = `${modules}/${entry.name}`;
    if (entry.name.startsWith('@')) await checkModules(path, targetDir);
    else if (entry.isDirectory()) await checkModules(`${path}/node_modules`, targetDir);
  }
}
