// Python packages by pip.
import { existsSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { z } from 'zod';
import type { InstallContext } from './artifact-installer.ts';
import { ownFolder } from './own-folder.ts';
import { runProgram } from './program.ts';
import { describedName, readEnvironment } from './pypi-environment.ts';
import { FIND_PIP, RUN_PIP } from './pypi-own-pip.ts';
import type { PinnedPackage } from './pypi-packages.ts';
import type { PythonProgram } from './pypi-program.ts';
import { demandPython, environmentArgs, NOTHING_ELSE, outsideOf, VENV, venvPython, WINDOWS } from './pypi-python.ts';
import { normalName } from './pypi-spec.ts';
import { NO_PYTHON } from './pypi-venv.ts';
import { normalVersion } from './pypi-version.ts';
import { removeHeld } from './remove-held.ts';

const NO_SETTINGS = { PIP_CONFIG_FILE: WINDOWS ? 'nul' : '/dev/null' };

export function pipProgram(context: InstallContext): PythonProgram {
  const cwd = outsideOf(context);
  const report = join(context.scratchDir, 'report.json');
  const python = (program: string, args: string[], options: { env?: typeof NO_SETTINGS; isGuarded?: boolean } = {}) =>
    runProgram({ program, args, cwd, whenMissing: NO_PYTHON, ...options }, context);
  const makeVenv = (program: string, folder: string) => python(program, ['-I', '-m', 'venv', '--without-pip', folder]);
  const pip = async (args: string[], options: { env?: typeof NO_SETTINGS; isGuarded?: boolean }) => {
    const run = [...NOTHING_ELSE, '-c', RUN_PIP, ...environmentArgs(context), await ownFolder()];
    const quietly = ['--disable-pip-version-check', '--no-input', '--no-color', 'install', '--quiet', '--no-compile'];
    return python(await demandPython(context), [...run, ...quietly, ...args], options);
  };
  const install = (args: string[], indexUrl?: string) => {
    const wheels = ['--only-binary', ':all:', ...args];
    if (indexUrl === undefined) return pip(wheels, {});
    // What the hub's proxy refuses stays refused, however long pip goes on asking.
    const index = ['--index-url', indexUrl, '--retries', '2'];
    // An index of the manifest's must not be mixed with those that the machine is set up for.
    return pip([...index, ...wheels], { env: NO_SETTINGS, isGuarded: true });
  };

  return {
    name: 'pip',
    noPython: /ensurepip|No module named venv/i,
    makeVenv: (folder) => makeVenv('python3', folder),
    /** Without one of its own, an environment has less than its users expect; the hub itself does not need that. */
    async completeVenv(folder) {
      const own = await demandPython(context);
      const found = await python(own, [...NOTHING_ELSE, '-c', FIND_PIP]);
      if (found.exitCode !== 0 || (await hasPip(context.targetDir))) return found;
      // What is written last is missing when the hub was ended before; packages that are there stay.
      if (!existsSync(join(venvPython(context), '..', 'activate'))) await makeVenv(own, folder);
      await removeHalfPip(context.targetDir);
      // Another version may be there because somebody needs it.
      const { described } = (await readEnvironment(folder)) ?? {};
      const wheels = found.stdout.trim().split(/\r?\n/);
      const missing = wheels.filter((wheel) => !described?.has(describedName(basename(wheel))));
      return pip(['--no-index', '--no-deps', '--', ...missing], { env: NO_SETTINGS });
    },
    resolve: (requirement, options, indexUrl) =>
      install(['--dry-run', '--ignore-installed', '--report', report, ...options, '--', requirement], indexUrl),
    readResolved: async () => readReport(await readFile(report, 'utf8')),
    install(requirementsFile, indexUrl, isAnew) {
      const exactly = ['--no-deps', '--require-hashes', '--requirement', requirementsFile];
      return install([...(isAnew ? ['--force-reinstall'] : []), ...exactly], indexUrl);
    },
  };
}

/** A whole one: its list of files is what is written last. */
async function hasPip(targetDir: string): Promise<boolean> {
  const { packages = '', described } = (await readEnvironment(join(targetDir, VENV))) ?? {};
  return existsSync(join(packages, described?.get('pip') ?? '', 'RECORD'));
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
    return {
      name: normalName(metadata.name),
      version: normalVersion(metadata.version),
      hashes: sha256 ? [`sha256:${sha256}`] : [],
    };
  });
}
