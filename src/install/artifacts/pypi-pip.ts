// Python packages by pip.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { runProgram } from './program.ts';
import type { PinnedPackage } from './pypi-packages.ts';
import { normalName } from './pypi-spec.ts';
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
  WINDOWS,
} from './pypi-venv.ts';

export function pipTool(context: InstallContext): PythonTool {
  const python = venvPython(context);
  // -I: neither the folder it runs in nor settings of Python from outside add modules.
  const pip = (args: string[], indexUrl?: string) =>
    runProgram(
      {
        program: python,
        args: ['-I', '-B', '-m', 'pip', '--disable-pip-version-check', '--no-input', '--no-color', ...args],
        cwd: context.scratchDir,
        // An index of the manifest's must not be mixed with those that the machine is set up for.
        env: indexUrl ? { PIP_CONFIG_FILE: WINDOWS ? 'nul' : '/dev/null' } : {},
        whenMissing: NO_PYTHON,
      },
      context,
    );
  const index = (indexUrl?: string) => (indexUrl ? ['--index-url', indexUrl] : []);

  return {
    name: 'pip',
    async prepare() {
      await checkVenvPlaces(context);
      if (await isUsable(context)) return false;
      const made = await runProgram(
        {
          program: 'python3',
          args: ['-I', '-m', 'venv', '--clear', join(context.targetDir, VENV)],
          cwd: context.scratchDir,
          whenMissing: NO_PYTHON,
        },
        context,
      );
      if (made.exitCode === 0) return true;
      await rm(join(context.targetDir, VENV), { recursive: true, force: true });
      const isIncomplete = /ensurepip|No module named venv/i.test(made.stdout + made.stderr);
      throw isIncomplete ? new InstallError(NO_PYTHON) : toolError('python3 -m venv', made);
    },
    async resolve(requirement, indexUrl) {
      const installed = InstalledList.parse(JSON.parse((await done('pip', pip(['list', '--format=json']))).stdout));
      const kept = await keepInstalled(installed, requirement, context);
      const report = join(context.scratchDir, 'report.json');
      const args = [
        'install',
        '--dry-run',
        '--ignore-installed',
        '--quiet',
        '--report',
        report,
        '--only-binary',
        ':all:',
        ...index(indexUrl),
      ];
      const first = await pip([...args, ...kept, '--', requirement], indexUrl);
      // What is there may stand in the way of what is asked for now, which then counts more.
      if (first.exitCode !== 0)
        await done('pip', kept.length > 0 ? pip([...args, '--', requirement], indexUrl) : first);
      return readReport(await readFile(report, 'utf8'));
    },
    async install(requirementsFile, indexUrl) {
      const args = [
        'install',
        '--quiet',
        '--no-deps',
        '--require-hashes',
        '--only-binary',
        ':all:',
        '--no-compile',
        ...index(indexUrl),
      ];
      await done('pip', pip([...args, '--requirement', requirementsFile], indexUrl));
    },
  };
}

const Report = z.looseObject({
  install: z.array(
    z.looseObject({
      metadata: z.looseObject({ name: z.string(), version: z.string() }),
      download_info: z.looseObject({
        archive_info: z.looseObject({ hashes: z.record(z.string(), z.string()).optional() }).optional(),
      }),
    }),
  ),
});

function readReport(text: string): PinnedPackage[] {
  return Report.parse(JSON.parse(text)).install.map(({ metadata, download_info }) => {
    const sha256 = download_info.archive_info?.hashes?.sha256;
    return { name: normalName(metadata.name), version: metadata.version, hashes: sha256 ? [`sha256:${sha256}`] : [] };
  });
}
