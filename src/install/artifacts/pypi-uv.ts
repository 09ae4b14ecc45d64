// Python packages by uv.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunResult } from '../../lib/world.ts';
import type { InstallContext } from './artifact-installer.ts';
import { runProgram } from './program.ts';
import { readPinned } from './pypi-packages.ts';
import type { PythonProgram } from './pypi-program.ts';
import { outsideOf, VENV, WINDOWS, workVenv, writePython } from './pypi-python.ts';
import { NO_PYTHON } from './pypi-venv.ts';

export function uvProgram(context: InstallContext): PythonProgram {
  const { workDir } = context;
  const [wanted, pinned] = [join(workDir, 'wanted.txt'), join(workDir, 'pinned.txt')];
  const uv = (args: string[], indexUrl?: string) =>
    runProgram(
      {
        program: 'uv',
        args: ['--no-progress', '--color', 'never', ...args],
        cwd: outsideOf(context),
        // What the hub's proxy refuses stays refused, however often uv asks again.
        env: { UV_PYTHON_DOWNLOADS: 'never', ...(indexUrl === undefined ? {} : { UV_HTTP_RETRIES: '1' }) },
        isGuarded: indexUrl !== undefined,
        whenMissing: NO_PYTHON,
      },
      context,
    );
  const by = async (python: string) => ['--python', await writePython(python, context)];
  const index = (indexUrl?: string) => (indexUrl ? ['--no-config', '--default-index', indexUrl] : []);

  return {
    name: 'uv',
    noPython: /No interpreter found|no Python/i,
    async makeVenv() {
      // There, programs have the path of their Python in them, which only uv itself can write.
      const relocatable = WINDOWS ? ['--relocatable'] : [];
      const made = await uv(['venv', '--quiet', ...relocatable, '--', workVenv(context)]);
      if (made.exitCode === 0) await sayTarget(context);
      return made;
    },
    async resolve(python, { requirement, options, indexUrl }): Promise<RunResult> {
      await writeFile(wanted, `${requirement}\n`);
      const shape = ['--generate-hashes', '--no-build', '--no-header', '--no-annotate', '--output-file', pinned];
      const args = [...shape, ...index(indexUrl), ...(await by(python)), ...options, '--', wanted];
      return uv(['pip', 'compile', '--quiet', ...args], indexUrl);
    },
    readResolved: async () => readPinned(await readFile(pinned, 'utf8')),
    async install(python, { requirementsFile, indexUrl }) {
      const exactly = ['--no-deps', '--require-hashes', '--no-build', '--requirement', requirementsFile];
      // Never links into the cache: whoever changes a file in one target would change it in all of them.
      const ownFiles = ['--link-mode', 'copy'];
      const args = [...index(indexUrl), ...(await by(python)), ...ownFiles, ...exactly];
      return uv(['pip', 'install', '--quiet', ...args], indexUrl);
    },
  };
}

/** The scripts that people start an environment with have its path in them, in quotes. */
async function sayTarget({ workDir, targetDir }: InstallContext): Promise<void> {
  const folder = join(workVenv({ workDir }), WINDOWS ? 'Scripts' : 'bin');
  const names = (await readdir(folder)).filter((name) => name.startsWith('activate'));
  // As uv itself writes it.
  const said = join(targetDir, VENV).replaceAll("'", `'"'"'`);
  for (const path of names.map((name) => join(folder, name))) {
    const text = await readFile(path, 'utf8');
    await writeFile(
      path,
      text.replaceAll(workVenv({ workDir }), () => said),
    );
  }
}
