// uv and pip: how they lock a requirement and fill an environment, which index they use, and what their errors mean.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InstallError } from '../../errors.ts';
import { absent } from '../../target/files.ts';
import { mayUseCredentials, vetHost } from '../address.ts';
import type { ArtifactContext } from '../artifact.ts';
import {
  type Causes,
  findCause,
  lastLine,
  NEEDS_LOGIN,
  NO_DOWNLOADS,
  neutralFolder,
  REFUSED_BY_PROXY,
  runToEnd,
  UNREACHABLE,
} from '../program.ts';
import { type Interpreter, NO_PYTHON, PYTHON } from './interpreter.ts';
import { readCompiled, readReport } from './requirements.ts';

export interface PythonTool {
  /** Returns requirement lines with digests, and the platform that they apply to. @throws InstallError */
  lock(requirement: string): Promise<{ requirements: string[]; platform: string }>;
  /** Creates an environment with exactly the content of the requirements file, checked by digest. @throws InstallError */
  install(folder: string, requirementsFile: string): Promise<void>;
}

interface PythonJob {
  interpreter: Interpreter;
  context: ArtifactContext;
  /** The index that the manifest names; without it, the tools use the machine's configuration. */
  indexUrl: string | undefined;
  run(program: string, args: readonly string[], env?: Record<string, string>): Promise<void>;
}

export async function pythonTool(
  indexUrl: string | undefined,
  interpreter: Interpreter,
  context: ArtifactContext,
): Promise<PythonTool> {
  if (indexUrl !== undefined) await vetHost(indexUrl, context);
  const access = indexAccess(indexUrl, context);
  const isOwnIndex = indexUrl === undefined;
  const run: PythonJob['run'] = async (program, args, env) => {
    const request = {
      ...{ program, args, cwd: neutralFolder(context), env: { ...env, ...access.env }, inherit: access.inherit },
      ...{ isGuarded: !isOwnIndex, isRegistrySecret: isOwnIndex, whenMissing: NO_PYTHON },
      why: (output: string) => findCause(oneLine(output), CAUSES) ?? `${interpreter.tool} failed: ${lastLine(output)}.`,
    };
    await runToEnd(request, context);
  };
  return (interpreter.tool === 'uv' ? uvTool : pipTool)({ interpreter, context, indexUrl, run });
}

const EXACTLY = ['--no-deps', '--require-hashes', '--requirement'];

function uvTool({ interpreter, context, indexUrl, run }: PythonJob): PythonTool {
  const [wanted, compiled] = [join(context.stagingDir, 'wanted.txt'), join(context.stagingDir, 'compiled.txt')];
  const build = context.trust.allowBuild ? [] : ['--no-build'];
  const from = indexUrl === undefined ? build : ['--no-config', '--default-index', indexUrl, ...build];
  // A refusal by the hub's proxy is final, so retries would not help.
  const retries: Record<string, string> = indexUrl === undefined ? {} : { UV_HTTP_RETRIES: '1' };
  const quietly = ['--no-progress', '--color', 'never', '--quiet'];
  const uv = (...args: string[]) => run('uv', [...quietly, ...args], { ...NO_DOWNLOADS, ...retries });
  const python = ['--python', interpreter.file];

  // If possible, one version of each package for all platforms, and for this Python and newer.
  const everywhere = ['--universal', '--fork-strategy', 'fewest', '--python-version', interpreter.version];
  const shape = ['--generate-hashes', '--no-header', '--no-annotate', '--output-file', compiled];

  /** Uses the first scope that has a solution. */
  async function compile([scope = [], ...others]: string[][]): ReturnType<PythonTool['lock']> {
    try {
      await uv('pip', 'compile', ...scope, ...shape, ...from, ...python, '--', wanted);
    } catch (error) {
      if (others.length === 0 || !(error instanceof InstallError) || context.signal.aborted) throw error;
      return compile(others);
    }
    const platform = scope.includes('--universal') ? 'any' : interpreter.platform;
    return { requirements: readCompiled(await readFile(compiled, 'utf8')), platform };
  }

  return {
    async lock(requirement) {
      await writeFile(wanted, `${requirement}\n`);
      const { publishedAt } = context;
      // Not every index provides upload times.
      const times = publishedAt && requirement.includes('==') ? [['--exclude-newer', publishedAt], []] : [[]];
      // A package for another platform may have no wheel.
      return compile(times.flatMap((time) => [[...everywhere, ...time], time]));
    },
    async install(folder, requirementsFile) {
      await uv('venv', ...python, '--', folder);
      // Copies, so that a changed file does not affect the cache and other environments.
      const files = ['--link-mode', 'copy', '--no-compile-bytecode'];
      await uv('pip', 'install', '--python', join(folder, PYTHON), ...from, ...files, ...EXACTLY, requirementsFile);
    },
  };
}

function pipTool({ interpreter, context, indexUrl, run }: PythonJob): PythonTool {
  const build = context.trust.allowBuild ? [] : ['--only-binary', ':all:'];
  const from = indexUrl === undefined ? build : ['--index-url', indexUrl, '--retries', '2', ...build];
  const env: Record<string, string> = indexUrl === undefined ? {} : { PIP_CONFIG_FILE: '/dev/null' };
  const quietly = ['--disable-pip-version-check', '--no-input', '--no-color', '--quiet'];
  const log = join(context.stagingDir, 'pip.log');
  const pip = (...args: string[]) =>
    run(interpreter.file, ['-I', '-m', 'pip', ...quietly, '--log', log, ...args], env).catch(async (error: unknown) => {
      // pip only logs that an index refused it, and continues as if the index were empty.
      const isLost = error instanceof InstallError && /No matching distribution/.test(String(error.extra.output));
      const refusal = isLost && findCause((await readFile(log, 'utf8').catch(absent)) ?? '', REFUSALS);
      throw refusal ? new InstallError(refusal, error) : error;
    });

  return {
    async lock(requirement) {
      const report = join(context.stagingDir, 'report.json');
      const onlyReport = ['--dry-run', '--ignore-installed', '--report', report];
      await pip('install', '--no-user', ...from, ...onlyReport, '--', requirement);
      return { requirements: readReport(await readFile(report, 'utf8')), platform: interpreter.platform };
    },
    async install(folder, requirementsFile) {
      await run(interpreter.file, ['-I', '-m', 'venv', '--without-pip', folder]);
      const into = ['--python', join(folder, PYTHON), 'install', '--no-user'];
      await pip(...into, ...from, '--no-compile', ...EXACTLY, requirementsFile);
    },
  };
}

const OWN_VARIABLES = [
  ...['PIP_CONFIG_FILE', 'PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'PIP_TRUSTED_HOST', 'PIP_CACHE_DIR'],
  ...['UV_CONFIG_FILE', 'UV_DEFAULT_INDEX', 'UV_INDEX', 'UV_INDEX_URL', 'UV_EXTRA_INDEX_URL', 'UV_CACHE_DIR'],
  ...['UV_KEYRING_PROVIDER', 'UV_NATIVE_TLS', 'NETRC', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME'],
];

type Access = { env: Record<string, string>; inherit: readonly string[] };

/** A manifest's index is never combined with those of the machine; on a hub, it receives credentials only if its host is listed. */
function indexAccess(indexUrl: string | undefined, { trust }: ArtifactContext): Access {
  if (trust.isOwnMachine) return { env: {}, inherit: indexUrl === undefined ? OWN_VARIABLES : ['NETRC'] };
  if (indexUrl === undefined) return { env: {}, inherit: [] };
  const { host, pathname } = new URL(indexUrl);
  const isTrusted = mayUseCredentials(trust, host, pathname);
  const noKeyrings = { PIP_KEYRING_PROVIDER: 'disabled', UV_KEYRING_PROVIDER: 'disabled' };
  return { env: { ...noKeyrings, ...(isTrusted ? {} : { NETRC: '/dev/null' }) }, inherit: [] };
}

const NO_BUILDS =
  'Packages are not built here, because that runs their code. On your own machine, --allow-build builds them.';

const NO_WHEEL = 'A package has no wheel';
const CONFLICT = 'The packages that it needs cannot be installed together';
const NEEDED_PYTHON = /current Python version \S+ does not satisfy Python([<>=!~\d.*,]*[\d*])/;

/** The Python versions, such as `>=3.12,<3.14`, that uv reports as necessary. */
export function neededPython(error: unknown): string | undefined {
  return error instanceof InstallError ? NEEDED_PYTHON.exec(oneLine(String(error.extra.output)))?.[1] : undefined;
}

const NO_ACCESS =
  'The package index refused access (403): check its address, and whether your login may read the package. On a hub, the operator must add its host to INSTALL_CREDENTIALS_FOR.';
const REFUSALS: Causes = [
  [REFUSED_BY_PROXY, 'The package index leads to an address that the hub may not connect to.'],
  [/401 (?:Unauthorized|Client Error)/i, `The package index refused access: ${NEEDS_LOGIN}.`],
  [/403 (?:Forbidden|Client Error)/i, NO_ACCESS],
];

const CAUSES: Causes = [
  ...REFUSALS,
  [/DO NOT MATCH THE HASHES|Hash mismatch/i, 'The package index sent other bytes than expected: the digest differs.'],
  // Checked before missing versions: for pip, an unreachable index has no versions either.
  [UNREACHABLE, 'The package index could not be reached.'],
  [/building \w[\w ]* is disabled|has no usable wheels/i, `${NO_WHEEL} for this Python and platform. ${NO_BUILDS}`],
  [/Because (\S+) was not found in the package registry/, "The package index has no package '$1'."],
  [/Because there is no version of (\S+)/, 'The package index has no version $1.'],
  [
    /No matching distribution found for ([^\s(]+)/i,
    `The package index has no $1, or no wheel of it for this Python and platform. ${NO_BUILDS}`,
  ],
  [/URL dependencies must be expressed/, 'A dependency is given by address instead of by name, which is not allowed.'],
  [NEEDED_PYTHON, 'It needs Python $1: install that, for example with `uv python install`.'],
  [/ResolutionImpossible|conflicting dependencies|No solution found/i, `${CONFLICT}, or do not support this Python.`],
  [/no such option|No module named '?pip/i, 'This Python has no pip 22.3 or newer: install uv, or a newer pip.'],
  [/ensurepip|No module named '?venv/i, 'This Python cannot create virtual environments: install uv or python3-venv.'],
];

/** uv wraps its lines. */
function oneLine(output: string): string {
  return output.replaceAll(/[\s│╰─▶]+/g, ' ');
}
