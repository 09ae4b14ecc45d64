// Python packages by pip.
import { existsSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { z } from 'zod';
import type { InstallContext } from './artifact-installer.ts';
import { runProgram } from './program.ts';
import type { PinnedPackage } from './pypi-packages.ts';
import type { PythonProgram } from './pypi-program.ts';
import { normalName } from './pypi-spec.ts';
import { NO_PYTHON, VENV, venvPython, WINDOWS } from './pypi-venv.ts';
import { removeHeld } from './remove-held.ts';

/** Fails unless pip is whole: its list of files is what is written last. One outside the environment is the machine's affair. */
const HAS_PIP = `import sys, importlib.metadata, pip._internal
sys.exit(pip.__file__.startswith(sys.prefix) and importlib.metadata.files("pip") is None)`;

export function pipProgram(context: InstallContext): PythonProgram {
  const cwd = context.scratchDir;
  const report = join(cwd, 'report.json');
  // -I: neither the folder it runs in nor settings of Python from outside add modules.
  const pip = (args: string[], indexUrl?: string) =>
    runProgram(
      {
        program: venvPython(context),
        args: ['-I', '-B', '-m', 'pip', '--disable-pip-version-check', '--no-input', '--no-color', ...args],
        cwd,
        // An index of the manifest's must not be mixed with those that the machine is set up for.
        env: indexUrl ? { PIP_CONFIG_FILE: WINDOWS ? 'nul' : '/dev/null' } : {},
        isGuarded: indexUrl !== undefined,
        whenMissing: NO_PYTHON,
      },
      context,
    );
  const python = (program: string, args: string[]) =>
    runProgram({ program, args: ['-I', ...args], cwd, whenMissing: NO_PYTHON }, context);
  const install = (args: string[], indexUrl?: string) => {
    // What the hub's proxy refuses stays refused, however long pip goes on asking.
    const index = indexUrl ? ['--index-url', indexUrl, '--retries', '2'] : [];
    return pip(['install', '--quiet', '--only-binary', ':all:', ...index, ...args], indexUrl);
  };

  return {
    name: 'pip',
    noPython: /ensurepip|No module named venv/i,
    // pip comes after that, by a command of its own: venv would not tell why that fails.
    makeVenv: (folder) => python('python3', ['-m', 'venv', '--without-pip', folder]),
    async completeVenv(folder) {
      const own = venvPython(context);
      const checked = await python(own, ['-B', '-c', HAS_PIP]);
      if (checked.exitCode === 0) return checked;
      // What is written last is missing when the hub was ended before; packages that are there stay.
      if (!existsSync(join(own, '..', 'activate'))) await python(own, ['-m', 'venv', '--without-pip', folder]);
      await removeHalfPip(context.targetDir);
      return python(own, ['-m', 'ensurepip', '--upgrade', '--default-pip']);
    },
    list: () => pip(['list', '--format=json']),
    resolve: (requirement, options, indexUrl) =>
      install(['--dry-run', '--ignore-installed', '--report', report, ...options, '--', requirement], indexUrl),
    readResolved: async () => readReport(await readFile(report, 'utf8')),
    install: (requirementsFile, indexUrl) =>
      install(['--no-deps', '--require-hashes', '--no-compile', '--requirement', requirementsFile], indexUrl),
  };
}

/** Parts of one would be taken for the whole. */
async function removeHalfPip(targetDir: string): Promise<void> {
  const parts = glob(['lib/python*/site-packages/pip{,-*.dist-info}', 'Lib/site-packages/pip{,-*.dist-info}'], {
    cwd: join(targetDir, VENV),
  });
  for await (const part of parts) await removeHeld(targetDir, [VENV, ...part.split(sep)].join('/'));
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
