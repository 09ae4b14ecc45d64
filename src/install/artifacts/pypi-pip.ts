// Python packages by pip.
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { InstallContext } from './artifact-installer.ts';
import { ownFolder } from './own-folder.ts';
import { runProgram } from './program.ts';
import { cannotReport, readDownloaded } from './pypi-download.ts';
import { describedName } from './pypi-environment.ts';
import { FIND_PIP, RUN_PIP } from './pypi-own-pip.ts';
import type { PinnedPackage } from './pypi-packages.ts';
import type { PythonProgram } from './pypi-program.ts';
import { environmentArgs, NOTHING_ELSE, outsideOf, venvPython, WINDOWS } from './pypi-python.ts';
import { hasWhole } from './pypi-record.ts';
import { normalName } from './pypi-spec.ts';
import { NO_PYTHON } from './pypi-venv.ts';
import { normalVersion } from './pypi-version.ts';

const NO_SETTINGS = { PIP_CONFIG_FILE: WINDOWS ? 'nul' : '/dev/null' };

const INSTALL = ['install', '--no-compile'];
/** Before 20.3, pip takes the first version that it finds, whatever else needs another; 20.2 knows better, but only when told to. */
const RESOLVER = { PIP_USE_FEATURE: '2020-resolver' };

interface PipOptions {
  env?: Record<string, string>;
  isGuarded?: boolean;
}

/** As `python -m venv --without-pip` does it; only what texts say of the place is another one, in the quotes of each script. */
const MAKE_VENV = `import os, sys, types, venv
folder, executable = sys.argv[1:]
final = os.path.dirname(os.path.dirname(executable))
class Builder(venv.EnvBuilder):
    def create_configuration(self, context):
        super().create_configuration(context)
        with open(context.cfg_path, encoding="utf-8") as file:
            settings = file.read()
        with open(context.cfg_path, "w", encoding="utf-8") as file:
            file.write(settings.replace(folder, final))
    def replace_variables(self, text, context):
        known = vars(context).items()
        said = {name: value.replace(folder, final) if isinstance(value, str) else value for name, value in known}
        return super().replace_variables(text, types.SimpleNamespace(**said))
Builder(symlinks=os.name != "nt").create(folder)
`;

export function pipProgram(context: InstallContext): PythonProgram {
  const { workDir } = context;
  const cwd = outsideOf(context);
  const [report, wheels] = [join(workDir, 'report.json'), join(workDir, 'wheels')];
  const run = (program: string, args: string[], options: PipOptions = {}) =>
    runProgram({ program, args, cwd, whenMissing: NO_PYTHON, ...options }, context);
  const makeVenv = (python: string) => run(python, ['-I', '-c', MAKE_VENV, ...environmentArgs(context)]);
  const pip = async (python: string, args: string[], options: PipOptions) => {
    const own = [...NOTHING_ELSE, '-c', RUN_PIP, ...environmentArgs(context), await ownFolder()];
    const quietly = ['--disable-pip-version-check', '--no-input', '--no-color', '--quiet'];
    return run(python, [...own, ...quietly, ...args], options);
  };
  const fromIndex = (python: string, [command = '', ...args]: string[], indexUrl?: string) => {
    const onlyWheels = ['--only-binary', ':all:', ...args];
    const env = command === 'download' ? RESOLVER : {};
    if (indexUrl === undefined) return pip(python, [command, ...onlyWheels], { env });
    // What the hub's proxy refuses stays refused, however long pip goes on asking.
    const index = ['--index-url', indexUrl, '--retries', '2'];
    // An index of the manifest's must not be mixed with those that the machine is set up for.
    return pip(python, [command, ...index, ...onlyWheels], { env: { ...env, ...NO_SETTINGS }, isGuarded: true });
  };

  return {
    name: 'pip',
    noPython: /ensurepip|No module named '?venv/i,
    makeVenv: () => makeVenv('python3'),
    /** Without one of its own, an environment has less than its users expect; the hub itself does not need that. */
    async completeVenv(python, there, isNew) {
      const found = await run(python, [...NOTHING_ELSE, '-c', FIND_PIP]);
      if (found.exitCode !== 0 || (there && (await hasWhole(there, 'pip')))) return found;
      // What is written last is missing when the hub was ended before; packages that are there stay.
      if (!isNew && !existsSync(join(venvPython(context), '..', 'activate'))) await makeVenv(python);
      const brought = found.stdout.trim().split(/\r?\n/);
      // Another version may be there because somebody needs it; of pip itself, there is only a part.
      const isThere = (name: string) => name !== 'pip' && there?.described.has(name);
      const missing = brought.filter((wheel) => !isThere(describedName(basename(wheel))));
      return pip(python, [...INSTALL, '--no-index', '--no-deps', '--', ...missing], { env: NO_SETTINGS });
    },
    async resolve(python, { requirement, options, indexUrl }) {
      const asked = [...options, '--', requirement];
      const trial = [...INSTALL, '--dry-run', '--ignore-installed', '--report', report, ...asked];
      const tried = await fromIndex(python, trial, indexUrl);
      if (!cannotReport(tried)) return tried;
      // Nothing of an attempt before this one may be taken for what this one needs.
      await rm(wheels, { recursive: true, force: true });
      return fromIndex(python, ['download', '--dest', wheels, ...asked], indexUrl);
    },
    readResolved: async () => (await readDownloaded(wheels)) ?? readReport(await readFile(report, 'utf8')),
    install(python, { requirementsFile, indexUrl }) {
      const exactly = ['--no-deps', '--require-hashes', '--requirement', requirementsFile];
      if (!existsSync(wheels)) return fromIndex(python, [...INSTALL, ...exactly], indexUrl);
      return pip(python, [...INSTALL, '--no-index', '--find-links', wheels, ...exactly], { env: NO_SETTINGS });
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
    return {
      name: normalName(metadata.name),
      version: normalVersion(metadata.version),
      hashes: sha256 ? [`sha256:${sha256}`] : [],
    };
  });
}
