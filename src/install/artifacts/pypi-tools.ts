// The two ways to install Python packages, uv where it is there and pip elsewhere: the same steps with either.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { works } from './program.ts';
import type { PinnedPackage } from './pypi-packages.ts';
import { pipProgram } from './pypi-pip.ts';
import type { PythonProgram } from './pypi-program.ts';
import { uvProgram } from './pypi-uv.ts';
import {
  checkVenvPlaces,
  done,
  InstalledList,
  isUsable,
  keepInstalled,
  NO_PYTHON,
  toolError,
  VENV,
} from './pypi-venv.ts';

export interface PythonTool {
  readonly name: PythonProgram['name'];
  /** Makes the virtual environment, unless it is there; says whether it was made. */
  prepare(): Promise<boolean>;
  /** What would be installed, without installing it; what is there already is kept where it fits. */
  resolve(requirement: string, indexUrl: string | undefined): Promise<PinnedPackage[]>;
  /** Exactly these, by their digests. */
  install(requirementsFile: string, indexUrl: string | undefined): Promise<void>;
}

export async function findPythonTool(context: InstallContext): Promise<PythonTool> {
  const hasUv = await works('uv', ['--version'], context);
  return pythonTool(hasUv ? uvProgram(context) : pipProgram(context), context);
}

function pythonTool(program: PythonProgram, context: InstallContext): PythonTool {
  const { name } = program;
  return {
    name,
    async prepare() {
      await checkVenvPlaces(context);
      if (await isUsable(context)) return false;
      const folder = join(context.targetDir, VENV);
      const made = await program.makeVenv(folder);
      if (made.exitCode === 0) return true;
      await rm(folder, { recursive: true, force: true });
      const isWithoutPython = program.noPython.test(made.stdout + made.stderr);
      throw isWithoutPython ? new InstallError(NO_PYTHON) : toolError(name, made);
    },
    async resolve(requirement, indexUrl) {
      const { stdout } = await done(name, program.list());
      const kept = await keepInstalled(InstalledList.parse(JSON.parse(stdout)), requirement, context);
      const first = await program.resolve(requirement, kept, indexUrl);
      // What is there may stand in the way of what is asked for now, which then counts more.
      const isInTheWay = first.exitCode !== 0 && kept.length > 0;
      await done(name, isInTheWay ? program.resolve(requirement, [], indexUrl) : first);
      return program.readResolved();
    },
    async install(requirementsFile, indexUrl) {
      await done(name, program.install(requirementsFile, indexUrl));
    },
  };
}
