// What a project itself asked for of a package, where an install has put an exact version in its place.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import semver from 'semver';
import { asObject } from '../../lib/json.ts';
import type { InstallContext } from './artifact-installer.ts';
import { parsedProject } from './npm-project.ts';

const SECTIONS = ['dependencies', 'devDependencies', 'optionalDependencies'] as const;

interface Wanted {
  section: string;
  range: string;
}

/** `before` is the package.json of before the install. What the hub itself wrote there may change without a word. */
export async function rangeWarning(
  name: string,
  before: Buffer | undefined,
  { targetDir, knownPlaces }: Pick<InstallContext, 'targetDir' | 'knownPlaces'>,
): Promise<{ warning?: string }> {
  const old = wantedIn(before, name);
  const now = wantedIn(await readFile(join(targetDir, 'package.json')), name);
  if (!old || (old.range === now?.range && old.section === now.section)) return {};
  const isOurs = knownPlaces.ours.includes(`node_modules/${name}`) && semver.valid(old.range) !== null;
  if (isOurs) return {};
  const written = now ? `'${now.range}' in ${now.section}` : 'nothing';
  return {
    warning: `package.json had '${old.range.slice(0, 120)}' for ${name} in ${old.section}, and has ${written} now, because installs pin what they install.`,
  };
}

function wantedIn(text: Buffer | undefined, name: string): Wanted | undefined {
  const project = parsedProject(text);
  return SECTIONS.flatMap((section) => {
    const ranges = asObject(project[section]);
    const range = Object.hasOwn(ranges, name) ? ranges[name] : undefined;
    return typeof range === 'string' ? [{ section, range }] : [];
  })[0];
}
