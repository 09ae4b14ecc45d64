// Python packages by uv.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { runProgram } from './program.ts';
import { readPinned } from './pypi-packages.ts';
import {
  checkVenvPlaces,
  done,
  InstalledList,
  isUsable,
  keepInstalled,
  NO_PYTHON,
  type PythonTool,
  toolError,
  VENV,
  venvPython,
} from './pypi-venv.ts';

export function uvTool(context: InstallContext): PythonTool {
  const uv = (args: string[]) =>
    runProgram(
      {
        program: 'uv',
        args: ['--no-progress', '--color', 'never', ...args],
        cwd: context.scratchDir,
        env: { UV_PYTHON_DOWNLOADS: 'never' },
        whenMissing: NO_PYTHON,
      },
      context,
    );
  const index = (indexUrl?: string) => (indexUrl ? ['--no-config', '--default-index', indexUrl] : []);
  const python = ['--python', venvPython(context)];

  return {
    name: 'uv',
    async prepare() {
      await checkVenvPlaces(context);
      if (await isUsable(context)) return false;
      const folder = join(context.targetDir, VENV);
      // uv itself clears only what looks like an environment.
      await rm(folder, { recursive: true, force: true });
      const made = await uv(['venv', '--quiet', '--', folder]);
      if (made.exitCode === 0) return true;
      await rm(folder, { recursive: true, force: true });
      throw /No interpreter found|no Python/i.test(made.stderr)
        ? new InstallError(NO_PYTHON)
        : toolError('uv venv', made);
    },
    async resolve(requirement, indexUrl) {
      const installed = InstalledList.parse(
        JSON.parse((await done('uv', uv(['pip', 'list', '--format', 'json', '--quiet', ...python]))).stdout),
      );
      const kept = await keepInstalled(installed, requirement, context);
      const wanted = join(context.scratchDir, 'wanted.txt');
      const pinned = join(context.scratchDir, 'pinned.txt');
      await writeFile(wanted, `${requirement}\n`);
      const args = [
        'pip',
        'compile',
        '--quiet',
        '--generate-hashes',
        '--no-build',
        '--no-header',
        '--no-annotate',
        ...index(indexUrl),
        ...python,
        '--output-file',
        pinned,
      ];
      const first = await uv([...args, ...kept, '--', wanted]);
      if (first.exitCode !== 0) await done('uv', kept.length > 0 ? uv([...args, '--', wanted]) : first);
      return readPinned(await readFile(pinned, 'utf8'));
    },
    async install(requirementsFile, indexUrl) {
      await done(
        'uv',
        uv([
          'pip',
          'install',
          '--quiet',
          '--no-deps',
          '--require-hashes',
          '--no-build',
          ...index(indexUrl),
          ...python,
          '--requirement',
          requirementsFile,
        ]),
      );
    },
  };
}
