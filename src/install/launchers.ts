// Launchers in `.hub/bin`: one program per name, which starts exactly what was installed.
import { chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileInside } from '../lib/files.ts';
import { pathInside } from '../lib/path-inside.ts';
import type { InstalledArtifact } from './artifacts/place.ts';
import type { LockedEntity, LockedLauncher, Lockfile } from './contract.ts';
import { isSameEntity } from './lockfile/lockfile.ts';
import { HUB_FOLDER, safeName } from './target/places.ts';

const BIN = `${HUB_FOLDER}/bin`;
const IS_WINDOWS = process.platform === 'win32';
/** Stands for the folder of the artifact in the command of an MCP bundle. */
const FOLDER = /\$\{__dirname\}/g;
/** Stands for the target until words are quoted: the one character that no command can hold. */
const ROOT = '\0';

/** The path that configurations name. */
export function launcherPath(name: string): string {
  return `${BIN}/${name}`;
}

/** A name that no other entity of the lockfile has. */
export function launcherName(wanted: string, { slug, taken }: { slug: string; taken: ReadonlySet<string> }): string {
  const last = slug.split('/').at(-1) ?? slug;
  const names = [wanted, `${last}-${wanted}`, `${slug}-${wanted}`].map(safeName);
  return names.find((name) => !taken.has(name)) ?? `${safeName(slug)}-${names.length}`;
}

/** The names of launchers of all entities but one, whatever its version. */
export function takenNames(lockfile: Lockfile | undefined, uid: string): Set<string> {
  const others = (lockfile?.entities ?? []).filter(({ id }) => !isSameEntity(id, uid));
  return new Set(others.flatMap(({ launchers = [] }) => launchers.map(({ name }) => name)));
}

/** Writes the launchers of an entity. */
export async function writeLaunchers(
  targetDir: string,
  launchers: readonly LockedLauncher[],
  artifacts: readonly (Artifact | undefined)[],
): Promise<void> {
  for (const launcher of launchers) {
    const artifact = artifacts[launcher.artifact];
    if (!artifact?.path) continue;
    const file = await writeFileInside(targetDir, launcherFile(launcher), launcherText(launcher, artifact));
    await chmod(file, 0o755);
  }
}

/** Relative to the target. */
export function launcherFile({ name }: LockedLauncher): string {
  return `${launcherPath(name)}${IS_WINDOWS ? '.cmd' : ''}`;
}

export function launcherText(launcher: LockedLauncher, artifact: Artifact): string {
  return IS_WINDOWS ? commandText(launcher, artifact) : shellText(launcher, artifact);
}

/** Removes launchers that no entity of the lockfile has. */
export async function removeOldLaunchers(targetDir: string, entities: readonly LockedEntity[]): Promise<void> {
  const wanted = new Set(entities.flatMap(({ launchers = [] }) => launchers.map(({ name }) => name)));
  const folder = await pathInside(targetDir, BIN);
  const names = await readdir(folder).catch(() => []);
  const old = names.filter((name) => !wanted.has(name.replace(/\.cmd$/, '')));
  await Promise.all(old.map((name) => rm(join(folder, name), { force: true, recursive: true })));
}

type Artifact = Pick<InstalledArtifact, 'path' | 'programs'>;

/** The words of the command, and the folder that it runs in. */
function wordsOf({ program, command = [] }: LockedLauncher, { path, programs }: Artifact) {
  const folder = `${ROOT}/${path}`;
  const found = programs.find(({ name }) => name === program);
  if (command.length > 0) {
    const words = command.map((word) => word.replace(FOLDER, () => folder));
    // `python` is the interpreter of the artifact's own environment.
    return { folder, words: found ? [`${folder}/${found.file}`, ...words] : words, isInside: !found };
  }
  if (!found) return { folder, words: [], isInside: false };
  const { file, interpreter } = found;
  return {
    folder,
    words: [...(interpreter ? [`${folder}/${interpreter}`] : []), `${folder}/${file}`],
    isInside: false,
  };
}

function shellText(launcher: LockedLauncher, artifact: Artifact): string {
  const { folder, words, isInside } = wordsOf(launcher, artifact);
  const enter = isInside ? `cd -- ${shellWord(folder)} || exit 1\n` : '';
  return `#!/bin/sh
# Written by Catalog Hub. The next install writes it again.
root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd -P) || exit 1
${enter}exec ${words.map(shellWord).join(' ')} "$@"
`;
}

function shellWord(word: string): string {
  return `"${word.replace(/["\\$`]/g, '\\$&').replaceAll(ROOT, '$root')}"`;
}

function commandText(launcher: LockedLauncher, artifact: Artifact): string {
  const { folder, words, isInside } = wordsOf(launcher, artifact);
  const enter = isInside ? `cd /d ${commandWord(folder)}\r\n` : '';
  return `@echo off\r\n${enter}${words.map(commandWord).join(' ')} %*\r\n`;
}

function commandWord(word: string): string {
  const path = word.includes(ROOT) ? word.replaceAll('/', '\\') : word;
  return `"${path.replaceAll('%', '%%').replaceAll('"', '').replaceAll(ROOT, '%~dp0..\\..')}"`;
}
