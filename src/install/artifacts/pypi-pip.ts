// Python packages by pip.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { InstallContext } from './artifact-installer.ts';
import { ownFolder } from './own-folder.ts';
import { runProgram } from './program.ts';
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
  const report = join(workDir, 'report.json');
  const run = (program: string, args: string[], options: { env?: typeof NO_SETTINGS; isGuarded?: boolean } = {}) =>
    runProgram({ program, args, cwd, whenMissing: NO_PYTHON, ...options }, context);
  const makeVenv = (python: string) => run(python, ['-I', '-c', MAKE_VENV, ...environmentArgs(context)]);
  const pip = async (python: string, args: string[], options: { env?: typeof NO_SETTINGS; isGuarded?: boolean }) => {
    const own = [...NOTHING_ELSE, '-c', RUN_PIP, ...environmentArgs(context), await ownFolder()];
    const quietly = ['--disable-pip-version-check', '--no-input', '--no-color', 'install', '--quiet', '--no-compile'];
    return run(python, [...own, ...quietly, ...args], options);
  };
  const install = (python: string, args: string[], indexUrl?: string) => {
    const wheels = ['--only-binary', ':all:', ...args];
    if (indexUrl === undefined) return pip(python, wheels, {});
    // What the hub's proxy refuses stays refused, however long pip goes on asking.
    const index = ['--index-url', indexUrl, '--retries', '2'];
    // An index of the manifest's must not be mixed with those that the machine is set up for.
    return pip(python, [...index, ...wheels], { env: NO_SETTINGS, isGuarded: true });
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
      const wheels = found.stdout.trim().split(/\r?\n/);
      // Another version may be there because somebody needs it; of pip itself, there is only a part.
      const isThere = (name: string) => name !== 'pip' && there?.described.has(name);
      const missing = wheels.filter((wheel) => !isThere(describedName(basename(wheel))));
      return pip(python, ['--no-index', '--no-deps', '--', ...missing], { env: NO_SETTINGS });
    },
    resolve(python, { requirement, options, indexUrl }) {
      const asked = ['--dry-run', '--ignore-installed', '--report', report, ...options, '--', requirement];
      return install(python, asked, indexUrl);
    },
    readResolved: async () => readReport(await readFile(report, 'utf8')),
    install: (python, { requirementsFile, indexUrl }) =>
      install(python, ['--no-deps', '--require-hashes', '--requirement', requirementsFile], indexUrl),
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
