// Python packages by uv.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InstallContext } from './artifact-installer.ts';
import { runProgram } from './program.ts';
import { readPinned } from './pypi-packages.ts';
import type { PythonProgram } from './pypi-program.ts';
import { outsideOf, writePython } from './pypi-python.ts';
import { NO_PYTHON } from './pypi-venv.ts';

export function uvProgram(context: InstallContext): PythonProgram {
  const { scratchDir } = context;
  const [wanted, pinned] = [join(scratchDir, 'wanted.txt'), join(scratchDir, 'pinned.txt')];
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
  const python = async () => ['--python', await writePython(context)];
  const index = (indexUrl?: string) => (indexUrl ? ['--no-config', '--default-index', indexUrl] : []);

  return {
    name: 'uv',
    noPython: /No interpreter found|no Python/i,
    makeVenv: (folder) => uv(['venv', '--quiet', '--', folder]),
    async resolve(requirement, options, indexUrl) {
      await writeFile(wanted, `${requirement}\n`);
      const shape = ['--generate-hashes', '--no-build', '--no-header', '--no-annotate', '--output-file', pinned];
      const args = [...shape, ...index(indexUrl), ...(await python()), ...options, '--', wanted];
      return uv(['pip', 'compile', '--quiet', ...args], indexUrl);
    },
    readResolved: async () => readPinned(await readFile(pinned, 'utf8')),
    async install(requirementsFile, indexUrl, isAnew) {
      const exactly = ['--no-deps', '--require-hashes', '--no-build', '--requirement', requirementsFile];
      // Never links into the cache: whoever changes a file in one target would change it in all of them.
      const ownFiles = ['--link-mode', 'copy', ...(isAnew ? ['--reinstall'] : [])];
      return uv(
        ['pip', 'install', '--quiet', ...index(indexUrl), ...(await python()), ...ownFiles, ...exactly],
        indexUrl,
      );
    },
  };
}
