// What uv and pip each do in their own way: lock a requirement, make an environment and fill it.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunResult } from '../../../lib/world.ts';
import { InstallError } from '../../errors.ts';
import type { ArtifactContext } from '../artifact.ts';
import { runProgram, withoutFolders } from '../program.ts';
import { compareVersions, type Interpreter, NO_PYTHON, neutralFolder } from './interpreter.ts';
import { needsBuild, pythonError } from './python-causes.ts';
import type { PackageIndex } from './python-index.ts';
import { readCompiled, readReport } from './requirements.ts';

export interface PythonJob {
  interpreter: Interpreter;
  index: PackageIndex;
  context: ArtifactContext;
}

interface LockedRequirements {
  requirements: string[];
  platform: string;
}

export interface PythonTool {
  lock(requirement: string): Promise<LockedRequirements>;
  makeEnvironment(folder: string): Promise<void>;
  /** Installs exactly what the requirements file says, by digest. */
  install(folder: string, requirementsFile: string): Promise<void>;
}

export function pythonTool(job: PythonJob): PythonTool {
  return job.interpreter.tool === 'uv' ? uvTool(job) : pipTool(job);
}

export const WINDOWS = process.platform === 'win32';
export const BIN = WINDOWS ? 'Scripts' : 'bin';
export const PYTHON = `${BIN}/python${WINDOWS ? '.exe' : ''}`;

function uvTool(job: PythonJob): PythonTool {
  const { interpreter, index, context } = job;
  const [wanted, compiled] = [join(context.stagingDir, 'wanted.txt'), join(context.stagingDir, 'compiled.txt')];
  const python = ['--python', interpreter.file];
  const fromIndex = index.url === undefined ? [] : ['--no-config', '--default-index', index.url];
  const build = context.trust.allowBuild ? [] : ['--no-build'];
  const uv = (args: readonly string[]) =>
    runTool('uv', ['--no-progress', '--color', 'never', ...args], job, {
      UV_PYTHON_DOWNLOADS: 'never',
      // An address that the hub's proxy refuses stays refused.
      ...(index.url === undefined ? {} : { UV_HTTP_RETRIES: '1' }),
    });
  const compile = (platforms: readonly string[]) => {
    const shape = ['--generate-hashes', '--no-header', '--no-annotate', '--output-file', compiled];
    return uv(['pip', 'compile', '--quiet', ...platforms, ...shape, ...fromIndex, ...python, ...build, '--', wanted]);
  };

  return {
    async lock(requirement) {
      await writeFile(wanted, `${requirement}\n`);
      // One version of each package for all platforms and for this Python and newer, wherever that is possible.
      const universal = ['--universal', '--fork-strategy', 'fewest', '--python-version', interpreter.version];
      const everywhere = await compile(universal);
      // A package that only another platform needs may have no wheel.
      const isOnlyHere = everywhere.exitCode !== 0 && needsBuild(everywhere);
      succeeded(isOnlyHere ? await compile([]) : everywhere, job);
      const requirements = readCompiled(await readFile(compiled, 'utf8'));
      return { requirements, platform: isOnlyHere ? interpreter.platform : 'any' };
    },
    async makeEnvironment(folder) {
      succeeded(await uv(['venv', '--quiet', ...python, '--', folder]), job);
    },
    async install(folder, requirementsFile) {
      const exactly = ['--no-deps', '--require-hashes', '--requirement', requirementsFile];
      // Copies: whoever changes a file must not change it in the cache and in other environments.
      const files = ['--link-mode', 'copy', '--no-compile-bytecode'];
      const into = ['--python', join(folder, PYTHON)];
      succeeded(await uv(['pip', 'install', '--quiet', ...into, ...fromIndex, ...build, ...files, ...exactly]), job);
    },
  };
}

function pipTool(job: PythonJob): PythonTool {
  const { interpreter, index, context } = job;
  const build = context.trust.allowBuild ? [] : ['--only-binary', ':all:'];
  const fromIndex = index.url === undefined ? [] : ['--index-url', index.url, '--retries', '2'];
  const env: Record<string, string> = index.url === undefined ? {} : { PIP_CONFIG_FILE: WINDOWS ? 'nul' : '/dev/null' };
  const pip = async (into: readonly string[], args: readonly string[]) => {
    const quietly = ['--disable-pip-version-check', '--no-input', '--no-color', '--quiet'];
    const install = [...into, 'install', '--no-user', ...fromIndex, ...build, ...args];
    succeeded(await runTool(await pythonWithPip(job), ['-I', '-m', 'pip', ...quietly, ...install], job, env), job);
  };

  return {
    async lock(requirement) {
      const report = join(context.stagingDir, 'report.json');
      await pip([], ['--dry-run', '--ignore-installed', '--report', report, '--', requirement]);
      return { requirements: readReport(await readFile(report, 'utf8')), platform: interpreter.platform };
    },
    makeEnvironment: (folder) => makeVenv(['--without-pip', folder], job),
    async install(folder, requirementsFile) {
      const exactly = ['--no-deps', '--require-hashes', '--requirement', requirementsFile];
      await pip(['--python', join(folder, PYTHON)], ['--no-compile', ...exactly]);
    },
  };
}

/** The machine's own pip, or the one that comes with its Python. @throws InstallError when both are too old. */
async function pythonWithPip(job: PythonJob): Promise<string> {
  const folder = join(job.context.stagingDir, 'pip');
  const own = join(folder, PYTHON);
  if (!existsSync(own)) {
    if (await hasUsablePip(job.interpreter.file, job)) return job.interpreter.file;
    await makeVenv([folder], job);
  }
  if (await hasUsablePip(own, job)) return own;
  throw new InstallError(
    `The pip of this Python is older than ${OLDEST_PIP} and cannot lock packages: install uv, or a newer Python.`,
  );
}

/** The first that has both `--report` and `--python`. */
const OLDEST_PIP = '22.3';

async function hasUsablePip(python: string, job: PythonJob): Promise<boolean> {
  const { stdout } = await runTool(python, ['-I', '-m', 'pip', '--version'], job, {});
  const version = /^pip (\d+\.\d+)/.exec(stdout)?.[1];
  return version !== undefined && compareVersions(version, OLDEST_PIP) >= 0;
}

/** @throws InstallError */
async function makeVenv(args: readonly string[], job: PythonJob): Promise<void> {
  const made = await runTool(job.interpreter.file, ['-I', '-m', 'venv', ...args], job, {});
  if (made.exitCode !== 0 && /ensurepip|No module named '?venv/i.test(made.stdout + made.stderr))
    throw new InstallError('Python cannot make virtual environments on this machine: install uv, or python3-venv.');
  succeeded(made, job);
}

async function runTool(
  program: string,
  args: readonly string[],
  { index, context }: PythonJob,
  env: Record<string, string>,
): Promise<RunResult> {
  const request = {
    ...{ program, args, cwd: neutralFolder(context), env: { ...env, ...index.env }, inherit: index.inherit },
    ...{ isGuarded: index.url !== undefined, whenMissing: NO_PYTHON },
  };
  const { exitCode, stdout, stderr } = await runProgram(request, context);
  const shown = (text: string) => withoutFolders(text, [context.stagingDir]);
  return { exitCode, stdout: shown(stdout), stderr: shown(stderr) };
}

/** @throws InstallError */
function succeeded(result: RunResult, { interpreter, index }: PythonJob): void {
  if (result.exitCode !== 0) throw pythonError(interpreter.tool, result, { isOwnIndex: index.url === undefined });
}
