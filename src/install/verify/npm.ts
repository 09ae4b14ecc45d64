// Whether a package of npm is still what was installed.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../../lib/absent.ts';
import { treeDigest } from '../../lib/file-digest.ts';
import { asObject } from '../../lib/json.ts';
import { pathInside } from '../../lib/path-inside.ts';
import { readPlainText } from '../../lib/plain-file.ts';
import { checkSameDependencies } from '../artifacts/locked.ts';
import { type NpmPlace, placesOf, readNpmLock } from '../artifacts/npm-lock.ts';
import { treeAt } from '../artifacts/npm-trees.ts';
import type { LockedArtifact } from '../contract.ts';
import { treeSkips } from '../tree.ts';
import { different, type Found, missing, SAME } from './check.ts';

export async function verifyNpmPackage(artifact: LockedArtifact, { targetDir }: { targetDir: string }): Promise<Found> {
  const { path, resolved, integrity, tree } = artifact;
  const name = (path ?? '').replace(/^node_modules\//, '');
  const folder = await pathInside(targetDir, path ?? '');
  const text = await readPlainText(join(folder, 'package.json')).catch(absent);
  if (text === undefined) return missing('the package is gone');
  const { version } = asObject(JSON.parse(text));
  if (`${name}@${version}` !== resolved) return different(`is ${name}@${version}, and should be ${resolved}`);
  const locked = await readNpmLock(targetDir, name);
  if (locked.integrity !== integrity)
    return different(`package-lock.json has ${locked.integrity ?? 'no digest'} for it, and should have ${integrity}`);
  checkSameDependencies(`${name}@${version}`, locked.dependencies, artifact.dependencies ?? []);
  if (tree !== undefined && (await treeDigest(folder, treeSkips('npm'))) !== tree)
    return different('files in the folder were changed');
  return verifyNeeded(name, artifact, targetDir);
}

/** What came along, wherever npm put it. */
async function verifyNeeded(name: string, { trees = {} }: LockedArtifact, targetDir: string): Promise<Found> {
  const [own, ...places] = await placesOf(targetDir, name);
  for (const place of places) {
    const expected = trees[place.resolved];
    if (expected === undefined) continue;
    const tree = await treeAt(place, targetDir);
    if (tree === undefined && !place.isOptional) return missing(`${place.resolved}, which it needs, is gone`);
    if (tree !== undefined && tree !== expected)
      return different(`files of ${place.resolved} in ${place.path} were changed`);
  }
  // Now that each is known to be a folder of its own, and no link to another.
  for (const { path } of own ? [own, ...places] : []) {
    const stray = await strayIn(`${path}/node_modules`, places, targetDir);
    if (stray !== undefined) return different(`${stray} is there, and is not in package-lock.json`);
  }
  return SAME;
}

/** Node takes what is inside of a package for what that needs, before it looks beside it. */
async function strayIn(folder: string, places: readonly NpmPlace[], targetDir: string): Promise<string | undefined> {
  for (const entry of (await readdir(join(targetDir, folder)).catch(absent)) ?? []) {
    const path = `${folder}/${entry}`;
    // npm's own, and folders of names.
    if (entry.startsWith('.')) continue;
    const isStray = !places.some((place) => place.path === path);
    const stray = entry.startsWith('@') ? await strayIn(path, places, targetDir) : isStray ? path : undefined;
    if (stray !== undefined) return stray;
  }
  return undefined;
}
