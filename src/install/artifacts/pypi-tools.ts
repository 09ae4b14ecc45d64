// The two ways to install Python packages: uv where it is there, pip elsewhere.
import { lstat, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { pathInside } from '../../lib/files.ts';
import type { RunResult } from '../../lib/world.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { outputEnd, runProgram, works } from './program.ts';
import { type PinnedPackage, readPinned } from './pypi-packages.ts';
import { normalName } from './pypi-spec.ts';

export const VENV = '.venv';
const WHEN_MISSING =
  'There is no Python on the machine of the hub: install Python 3.9 or newer with its venv module (Debian: apt install python3-venv), or uv, and try again.';
const WINDOWS = process.platform === 'win32';
const VENV_PYTHON = WINDOWS ? ['Scripts', 'python.exe'] : ['bin', 'python'];

export interface PythonTool {
  readonly name: 'uv' | 'pip';
  /** Makes the virtual environment, unless it is there; says whether it was made. */
  prepare(): Promise<boolean>;
  /** What would be installed, without installing it; what is there already is kept where it fits. */
  resolve(requirement: string, indexUrl: string | undefined): Promise<PinnedPackage[]>;
  /** Exactly these, by their digests. */
  install(requirementsFile: string, indexUrl: string | undefined): Promise<void>;
}

export async function findPythonTool(context: InstallContext): Promise<PythonTool> {
  return (await works('uv', ['--version'], context)) ? uvTool(context) : pipTool(context);
}

function pipTool(context: InstallContext): PythonTool {
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
        whenMissing: WHEN_MISSING,
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
          whenMissing: WHEN_MISSING,
        },
        context,
      );
      if (made.exitCode === 0) return true;
      await rm(join(context.targetDir, VENV), { recursive: true, force: true });
      const isIncomplete = /ensurepip|No module named venv/i.test(made.stdout + made.stderr);
      throw isIncomplete ? new InstallError(WHEN_MISSING) : toolError('python3 -m venv', made);
    },
    async resolve(requirement, indexUrl) {
      const installed = InstalledList.parse(JSON.parse((await done('pip', pip(['list', '--format=json']))).stdout));
      const kept = await constraintsFile(installed, requirement, context);
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
      const first = await pip([...args, '--constraint', kept, '--', requirement], indexUrl);
      // What is there may stand in the way of what is asked for now, which then counts more.
      if (first.exitCode !== 0) await done('pip', pip([...args, '--', requirement], indexUrl));
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

function uvTool(context: InstallContext): PythonTool {
  const uv = (args: string[]) =>
    runProgram(
      {
        program: 'uv',
        args: ['--no-progress', '--color', 'never', ...args],
        cwd: context.scratchDir,
        env: { UV_PYTHON_DOWNLOADS: 'never' },
        whenMissing: WHEN_MISSING,
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
      const made = await uv(['venv', '--clear', '--quiet', '--', join(context.targetDir, VENV)]);
      if (made.exitCode === 0) return true;
      await rm(join(context.targetDir, VENV), { recursive: true, force: true });
      throw /No interpreter found|no Python/i.test(made.stderr)
        ? new InstallError(WHEN_MISSING)
        : toolError('uv venv', made);
    },
    async resolve(requirement, indexUrl) {
      const installed = InstalledList.parse(
        JSON.parse((await done('uv', uv(['pip', 'list', '--format', 'json', '--quiet', ...python]))).stdout),
      );
      const kept = await constraintsFile(installed, requirement, context);
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
      const first = await uv([...args, '--constraint', kept, '--', wanted]);
      if (first.exitCode !== 0) await done('uv', uv([...args, '--', wanted]));
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

function venvPython({ targetDir }: InstallContext): string {
  return join(targetDir, VENV, ...VENV_PYTHON);
}

/** No link may lead the installer out of the target; `lib64`, a link beside `lib`, is Python's own. */
async function checkVenvPlaces({ targetDir }: InstallContext): Promise<void> {
  for (const folder of ['bin', 'lib', 'Scripts', 'Lib', 'include', 'pyvenv.cfg'])
    await pathInside(targetDir, `${VENV}/${folder}`);
}

/** Whatever else lies under this name must not be started: it may have come with the folder. */
async function isUsable(context: InstallContext): Promise<boolean> {
  const python = venvPython(context);
  const isThere = await lstat(python).catch(() => undefined);
  if (!isThere) return false;
  const own = await realpath(python).catch(() => '');
  const isOfTheMachine = own !== '' && !own.startsWith(context.targetDir);
  return isOfTheMachine && works(python, ['-I', '-c', 'import sys; sys.exit(sys.prefix == sys.base_prefix)'], context);
}

const InstalledList = z.array(z.looseObject({ name: z.string(), version: z.string() }));

/** So that a second package does not move what the first one needs. */
async function constraintsFile(
  installed: z.infer<typeof InstalledList>,
  requirement: string,
  { scratchDir }: InstallContext,
): Promise<string> {
  const wanted = normalName(/^[\w.-]+/.exec(requirement)?.[0] ?? '');
  const kept = installed.filter(({ name }) => ![wanted, 'pip', 'setuptools', 'wheel'].includes(normalName(name)));
  const file = join(scratchDir, 'constraints.txt');
  await writeFile(file, kept.map(({ name, version }) => `${name}==${version}\n`).join(''));
  return file;
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

async function done(tool: string, running: Promise<RunResult>): Promise<RunResult> {
  const result = await running;
  if (result.exitCode === 0) return result;
  throw toolError(tool, result);
}

const CAUSES: readonly [RegExp, string][] = [
  [/DO NOT MATCH THE HASHES|Hash mismatch/i, 'What the index sent is not what it should be: its digest differs.'],
  [
    /No matching distribution|No solution found|not found in the package registry|Could not find a version/i,
    'The index has no such package or version as a wheel for this Python; packages that must be built would run their code on the machine of the hub, and are not.',
  ],
  [/ResolutionImpossible|conflicting dependencies/i, 'What it needs cannot be had together.'],
  [/No space left/i, 'The disk is full.'],
  [
    /Connection refused|Name or service not known|Temporary failure|NewConnectionError|Failed to fetch|timed out/i,
    'The package index could not be reached.',
  ],
];

function toolError(tool: string, { stdout, stderr }: RunResult): InstallError {
  const output = outputEnd(`${stdout}\n${stderr}`);
  const cause = CAUSES.find(([pattern]) => pattern.test(output))?.[1];
  const lastLine = output.split('\n').findLast((line) => line.trim() !== '') ?? 'it said nothing';
  return new InstallError(cause ?? `${tool} failed: ${lastLine.slice(0, 300)}.`, { extra: { output } });
}
