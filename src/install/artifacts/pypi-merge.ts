// What programs of Python have made in the work folder, brought into the environment that a target has.
import { mkdir, readdir, rename } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { type HeldFolder, holdBelow, holdFolder, removeBelow } from '../../lib/held-folder.ts';
import { createMoveJournal, type MoveJournal } from '../../lib/move-journal.ts';
import { throughLink } from '../../lib/path-inside.ts';
import { besideName, isBesideName, placeBelow } from '../../lib/place-tree.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { type Environment, readEnvironment } from './pypi-environment.ts';
import { findLeaving, type Leaving } from './pypi-leaving.ts';
import { isOfNoPackage } from './pypi-own-files.ts';
import { VENV, workVenv } from './pypi-python.ts';

export interface Merged {
  /** What the target has. */
  there: Environment | undefined;
  /** Of the packages that may take the places of others. */
  names: readonly string[];
}

/**
 * Programs would follow links in the target; here every folder is held. Lists of files come last, so that the next install
 * notices when this one was ended. When it fails, the environment is as it was. @throws InstallError, PathError
 */
export async function mergeVenv(context: InstallContext, { there, names }: Merged): Promise<void> {
  const made = await readEnvironment(workVenv(context));
  const coming = await findComing(workVenv(context));
  if (!made || coming.length === 0) return;
  const leaving = await findLeaving(made, there, new Set(names));
  const venv = await holdVenv(context);
  try {
    await inStage(venv, context, (stage) => mergeFrom(stage, venv, { coming, leaving, from: workVenv(context) }));
    if (!(await venv.isAt(join(context.targetDir, VENV))))
      throw new InstallError(`${VENV} in the target was moved or replaced while the install ran: install again.`);
  } finally {
    await venv.close();
  }
}

interface Coming {
  folder: string[];
  names: string[];
}

/** Files by their folders. Links are none: those that an environment has are there already. */
async function findComing(from: string): Promise<Coming[]> {
  const folders = new Map<string, string[]>();
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const folder = relative(from, entry.parentPath);
    const path = relative(from, join(entry.parentPath, entry.name)).split(sep);
    if (!entry.isFile() || isOfNoPackage(path)) continue;
    const names = folders.get(folder) ?? [];
    folders.set(folder, names);
    names.push(entry.name);
  }
  return [...folders].map(([folder, names]) => ({ folder: folder === '' ? [] : folder.split(sep), names }));
}

async function holdVenv({ targetDir }: InstallContext): Promise<HeldFolder> {
  const target = await holdFolder(targetDir);
  if (!target) throw throughLink(VENV);
  return holdBelow(target, VENV).finally(target.close);
}

/** A folder on the filesystem of the environment, where there is room for all or for nothing: later, only names change. */
async function inStage(
  venv: HeldFolder,
  { scratchDir }: InstallContext,
  work: (stage: HeldFolder) => Promise<void>,
): Promise<void> {
  const left = (await readdir(venv.place)).filter(isBesideName);
  for (const each of left) await removeBelow(venv, each).catch(() => {});
  const name = besideName();
  await mkdir(join(venv.place, name));
  // There, the next install finds it when this one is ended; elsewhere that looks only here.
  const isInScratch = await rename(join(venv.place, name), join(scratchDir, name)).then(() => true, unlessElsewhere);
  const parent = isInScratch ? { place: scratchDir } : venv;
  try {
    const stage = await holdBelow(parent, name);
    await work(stage).finally(stage.close);
  } finally {
    await removeBelow(parent, name).catch(() => {});
  }
}

function unlessElsewhere(error: NodeJS.ErrnoException): false {
  if (error.code === 'EXDEV') return false;
  throw error;
}

const [NEW, OLD] = ['new', 'old'];

interface Merge {
  coming: readonly Coming[];
  leaving: Leaving;
  from: string;
}

async function mergeFrom(stage: HeldFolder, venv: HeldFolder, { coming, leaving, from }: Merge): Promise<void> {
  await placeBelow(from, stage, NEW);
  await mkdir(join(stage.place, OLD));
  const source = await holdBelow(stage, NEW);
  const aside = await holdBelow(stage, OLD);
  const journal = createMoveJournal(venv, aside, VENV);
  try {
    await takeOld(journal, leaving);
    for (const isLast of [false, true]) {
      for (const { folder, names } of coming) {
        const chosen = names.filter((name) => isList(folder, name) === isLast);
        if (chosen.length > 0) await journal.put(source, folder, chosen);
      }
    }
  } catch (error) {
    await journal.undo();
    throw error;
  } finally {
    await source.close();
    await aside.close();
  }
}

function isList(folder: readonly string[], name: string): boolean {
  return name === 'RECORD' && (folder.at(-1) ?? '').endsWith('.dist-info');
}

/** What describes a package goes last: until then, the next install notices what is missing. */
async function takeOld(journal: MoveJournal, { files, wholes, packages }: Leaving): Promise<void> {
  for (const { folder, names } of files) {
    await journal.take(folder, names);
    const modules = new Set(names.flatMap((name) => /^(.+)\.py$/.exec(name)?.[1] ?? []));
    if (modules.size === 0) continue;
    const compiled = [...folder, '__pycache__'];
    const left = (await journal.list(compiled)).filter((name) =>
      modules.has(/^(.+?)\.[^.]+(\.opt-\w+)?\.pyc$/.exec(name)?.[1] ?? ''),
    );
    await journal.take(compiled, left);
    await journal.prune(compiled, folder.length);
  }
  // What others have in common stays: only folders below those of packages are those of one alone.
  for (const { folder } of files) if (folder.length > packages.length) await journal.prune(folder, packages.length);
  for (const whole of wholes) await journal.take(whole.slice(0, -1), whole.slice(-1), true);
}
