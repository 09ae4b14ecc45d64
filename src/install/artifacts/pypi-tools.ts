// The two ways to install Python packages, uv where it is there and pip elsewhere: the same steps with either.
import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { stageBelow } from '../../lib/place-tree.ts';
import { replaceInside } from '../../lib/replace-inside.ts';
import type { RunResult } from '../../lib/world.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { type Environment, environmentVersion, readEnvironment } from './pypi-environment.ts';
import { mergeVenv } from './pypi-merge.ts';
import { keepOwnFiles } from './pypi-own-files.ts';
import type { PinnedPackage } from './pypi-packages.ts';
import { pipProgram } from './pypi-pip.ts';
import type { PythonProgram } from './pypi-program.ts';
import { madePython, VENV, worksOutside, workVenv } from './pypi-python.ts';
import { uvProgram } from './pypi-uv.ts';
import {
  checkVenvPlaces,
  done,
  keepInstalled,
  keepVersion,
  NO_PYTHON,
  pythonVersion,
  usablePython,
} from './pypi-venv.ts';

/** An environment in the work folder: a whole new one, or what is to come into the one that the target has. */
export interface PreparedVenv {
  readonly tool: PythonProgram['name'];
  readonly isNew: boolean;
  /** What the target has already, for the Python that fills it. */
  readonly there: Environment | undefined;
  /** What would be installed, without installing it; what the target has already is kept where it fits. */
  resolve(requirement: string, indexUrl: string | undefined): Promise<PinnedPackage[]>;
  /** Exactly these, by their digests. */
  install(requirementsFile: string, indexUrl: string | undefined): Promise<void>;
  /** Into the target, which nothing before this has changed; packages of these names take the places of others. */
  putInPlace(names: readonly string[]): Promise<void>;
}

export async function prepareVenv(context: InstallContext): Promise<PreparedVenv> {
  const hasUv = await worksOutside('uv', ['--version'], context);
  const program = hasUv ? uvProgram(context) : pipProgram(context);
  const { name } = program;
  await checkVenvPlaces(context);
  const usable = await usablePython(context);
  const isNew = usable === undefined;
  // Found out once: the link in the target may lead elsewhere a moment later.
  const python = usable ?? (await makeVenv(program, context));
  const version = isNew ? undefined : await pythonVersion(python, context);
  const there = isNew ? undefined : await readThere(version, context);
  if (!isNew) await makeEmpty(context);
  if (program.completeVenv) await tried(program, program.completeVenv(python, there, isNew), context);
  const completed = await readEnvironment(workVenv(context));
  const putOwnBack = await keepOwnFiles(workVenv(context), join(context.workDir, 'own'));
  return {
    tool: name,
    isNew,
    there,
    async resolve(requirement, indexUrl) {
      const kept = isNew ? [] : await keepInstalled(requirement, there, context);
      const resolve = (options: readonly string[]) => program.resolve(python, { requirement, options, indexUrl });
      const first = await resolve(kept);
      // What is there may stand in the way of what is asked for now, which then counts more.
      const isInTheWay = first.exitCode !== 0 && kept.length > 0;
      await done({ tool: name, indexUrl }, isInTheWay ? resolve([]) : first, context);
      return program.readResolved();
    },
    async install(requirementsFile, indexUrl) {
      await done({ tool: name, indexUrl }, program.install(python, { requirementsFile, indexUrl }), context);
    },
    async putInPlace(names) {
      await putOwnBack();
      if (isNew) return putNew(context);
      await mergeVenv(context, { there, names: [...names, ...(completed?.described.keys() ?? [])] });
      if (version !== undefined) await keepVersion(version, context);
    },
  };
}

async function makeVenv(program: PythonProgram, context: InstallContext): Promise<string> {
  await tried(program, program.makeVenv(), context);
  return madePython(context);
}

async function readThere(version: string | undefined, { targetDir }: InstallContext): Promise<Environment | undefined> {
  return readEnvironment(join(targetDir, VENV), environmentVersion(version && `version = ${version}`));
}

/** Only where files go: `lib64` is a link beside `lib` in every environment, and some Pythons put packages there. */
async function makeEmpty(context: InstallContext): Promise<void> {
  await mkdir(join(workVenv(context), 'lib'), { recursive: true });
  await symlink('lib', join(workVenv(context), 'lib64'));
}

async function tried(program: PythonProgram, running: Promise<RunResult>, context: InstallContext): Promise<RunResult> {
  const result = await running;
  if (result.exitCode !== 0 && program.noPython.test(result.stdout + result.stderr)) throw new InstallError(NO_PYTHON);
  return done({ tool: program.name }, result, context);
}

/** At once, in the place of whatever was there and could not be used. */
async function putNew(context: InstallContext): Promise<void> {
  // What uv held while it was at work.
  await rm(join(workVenv(context), '.lock'), { force: true });
  const from = await stageBelow(workVenv(context), { place: context.scratchDir });
  const replaced = await replaceInside(context.targetDir, VENV, from, context.scratchDir);
  // That something of the old one cannot be removed is no reason to fail.
  await replaced.finish().catch(() => {});
}
