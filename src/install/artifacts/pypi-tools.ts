// The two ways to install Python packages, uv where it is there and pip elsewhere: the same steps with either.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RunResult } from '../../lib/world.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { works } from './program.ts';
import type { PinnedPackage } from './pypi-packages.ts';
import { pipProgram } from './pypi-pip.ts';
import type { PythonProgram } from './pypi-program.ts';
import { VENV } from './pypi-python.ts';
import { uvProgram } from './pypi-uv.ts';
import { checkVenvPlaces, done, isUsable, keepInstalled, keepVersion, NO_PYTHON } from './pypi-venv.ts';
import { removeHeld } from './remove-held.ts';

export interface PythonTool {
  readonly name: PythonProgram['name'];
  /** Makes the virtual environment, unless it is there; says whether it was made. */
  prepare(): Promise<boolean>;
  /** What would be installed, without installing it; what is there already is kept where it fits. */
  resolve(requirement: string, indexUrl: string | undefined): Promise<PinnedPackage[]>;
  /** Exactly these, by their digests; with `isAnew`, also what seems to be there already. */
  install(requirementsFile: string, indexUrl: string | undefined, isAnew: boolean): Promise<void>;
}

export async function findPythonTool(context: InstallContext): Promise<PythonTool> {
  const hasUv = await works('uv', ['--version'], context);
  return pythonTool(hasUv ? uvProgram(context) : pipProgram(context), context);
}

function pythonTool(program: PythonProgram, context: InstallContext): PythonTool {
  const { name } = program;
  const tried = async (running: Promise<RunResult>) => {
    const result = await running;
    if (result.exitCode !== 0 && program.noPython.test(result.stdout + result.stderr))
      throw new InstallError(NO_PYTHON);
    return done({ tool: name }, result, context);
  };
  return {
    name,
    async prepare() {
      await checkVenvPlaces(context);
      const folder = join(context.targetDir, VENV);
      const isNew = !(await isUsable(context));
      // What somebody can still mend goes only once it is certain that another can be made.
      if (isNew && existsSync(folder)) await tried(program.makeVenv(join(context.scratchDir, 'trial')));
      try {
        if (isNew) {
          await removeHeld(context.targetDir, VENV);
          await tried(program.makeVenv(folder));
        }
        if (!isNew) await keepVersion(context);
        if (program.completeVenv) await tried(program.completeVenv(folder));
        return isNew;
      } catch (error) {
        // The first error counts.
        if (isNew) await removeHeld(context.targetDir, VENV).catch(() => {});
        throw error;
      }
    },
    async resolve(requirement, indexUrl) {
      const kept = await keepInstalled(requirement, context);
      const first = await program.resolve(requirement, kept, indexUrl);
      // What is there may stand in the way of what is asked for now, which then counts more.
      const isInTheWay = first.exitCode !== 0 && kept.length > 0;
      await done({ tool: name, indexUrl }, isInTheWay ? program.resolve(requirement, [], indexUrl) : first, context);
      return program.readResolved();
    },
    async install(requirementsFile, indexUrl, isAnew) {
      await done({ tool: name, indexUrl }, program.install(requirementsFile, indexUrl, isAnew), context);
    },
  };
}
