// What pip downloaded, by the names of its files: before 22.2 it cannot tell in another way what it would install.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../../lib/absent.ts';
import { fileDigest } from '../../lib/file-digest.ts';
import type { RunResult } from '../../lib/world.ts';
import { InstallError } from './artifact-installer.ts';
import type { PinnedPackage } from './pypi-packages.ts';
import { normalName } from './pypi-spec.ts';
import { normalVersion } from './pypi-version.ts';

/** Whether pip is too old to say what it would install. */
export function cannotReport({ exitCode, stdout, stderr }: RunResult): boolean {
  return exitCode !== 0 && /no such option: --(dry-run|report)\b/.test(`${stdout}\n${stderr}`);
}

/** Undefined when nothing was to be downloaded into that folder. @throws InstallError */
export async function readDownloaded(folder: string): Promise<PinnedPackage[] | undefined> {
  const files = await readdir(folder).catch(absent);
  if (files === undefined) return undefined;
  const packages: PinnedPackage[] = [];
  for (const file of files.sort()) {
    const pinned = { ...readWheelName(file), hashes: [await fileDigest(join(folder, file))] };
    // Some of these keep what they looked at on the way, and do not tell what they chose.
    if (packages.some(({ name }) => name === pinned.name))
      throw new InstallError(
        `The pip of this Python is too old to say which version of '${pinned.name}' it would install: install uv, or a newer Python.`,
      );
    packages.push(pinned);
  }
  return packages;
}

/** Name, version, perhaps a build, then what it is for: PEP 427. */
const WHEEL = /^([^\s-]+)-([^\s-]+)(?:-\d[^-]*)?(?:-[^\s-]+){3}\.whl$/;

function readWheelName(file: string): Pick<PinnedPackage, 'name' | 'version'> {
  const [, name, version] = WHEEL.exec(file) ?? [];
  // Left out, it would be missing without a word.
  if (name === undefined || version === undefined)
    throw new InstallError(
      `'${file}' is no wheel; packages that must be built would run their code on the machine of the hub, and are not.`,
    );
  // Names of files have no hyphens in their parts: those of a version were written as underscores.
  return { name: normalName(name), version: normalVersion(version.replaceAll('_', '-')) };
}
