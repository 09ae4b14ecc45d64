// The virtual environment inside a target, and what every tool that fills it has in common.
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { writeFileInside } from '../../lib/files.ts';
import { pathInside } from '../../lib/path-inside.ts';
import { readPlainText } from '../../lib/plain-file.ts';
import type { RunResult } from '../../lib/world.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { HELD_BACK, outputEnd, runProgram, withHostsOnly } from './program.ts';
import { type Environment, environmentVersion, holdsMore, SETTINGS, versionsIn } from './pypi-environment.ts';
import { linkedPython, NOTHING_ELSE, outsideOf, VENV, worksOutside } from './pypi-python.ts';
import { normalName } from './pypi-spec.ts';
import { isOfMachine } from './pypi-trusted.ts';

export const NO_PYTHON =
  'There is no Python on the machine of the hub: install Python 3.9 or newer with its venv module (Debian: apt install python3-venv), or uv, and try again.';

/** No link may lead the installer out of the target; `lib64`, a link beside `lib`, is Python's own. */
export async function checkVenvPlaces({ targetDir }: InstallContext): Promise<void> {
  for (const folder of ['bin', 'lib', 'Scripts', 'Lib', 'include', 'pyvenv.cfg'])
    await pathInside(targetDir, `${VENV}/${folder}`);
  const place = join(targetDir, VENV);
  const entries = await readdir(place, { recursive: true, withFileTypes: true }).catch(() => []);
  const links = entries.filter((entry) => entry.isSymbolicLink());
  const paths = links.map(({ parentPath, name }) => relative(place, join(parentPath, name)).split(sep).join('/'));
  // Without its Python, as when the machine got another one, nothing is written into it: it is made anew.
  const isLeft = (await kindOf(join(place, 'bin/python'))) === 'nothing';
  for (const followed of paths) {
    const kind = /^bin\/[^/]+$/.test(followed) ? await kindOf(join(place, followed)) : undefined;
    if (followed === 'lib64' || kind === 'file' || (isLeft && kind === 'nothing')) continue;
    throw new InstallError(
      `'${VENV}/${followed}' is a link, which an installer would follow: remove ${VENV} and try again.`,
    );
  }
}

/** What a link leads to. In `bin` there are some to the machine's Python; installers remove such a link before they write, but go into one to a folder. */
async function kindOf(link: string): Promise<'file' | 'nothing' | 'other'> {
  return stat(link).then(
    (found) => (found.isFile() ? 'file' : 'other'),
    () => 'nothing',
  );
}

/**
 * The Python of one that can be filled. Whatever else lies under its name is not started: it may have come with the folder.
 * @throws InstallError when somebody would lose what is in the environment.
 */
export async function usablePython(context: InstallContext): Promise<string | undefined> {
  const settings = await readPlainText(join(context.targetDir, VENV, SETTINGS)).catch(() => undefined);
  const python = await linkedPython(context);
  const isOwn = python !== undefined && (await isOfMachine(python, context));
  const isWhole = isOwn && /^home *=/m.test(settings ?? '');
  if (isWhole && (await worksOutside(python, [...NOTHING_ELSE, '-c', ''], context))) return python;
  // What installs put there can be had again; that of a person cannot.
  const { ours, ofOthers } = context.knownPlaces;
  const isOfInstalls = ours.includes(VENV) || ofOthers.some(({ path }) => path === VENV);
  const isUntrusted = python !== undefined && !isOwn;
  if ((isUntrusted || !isOfInstalls) && (await holdsMore(join(context.targetDir, VENV))))
    throw new InstallError(isUntrusted ? NOT_OF_MACHINE : NOT_USABLE);
  return undefined;
}

const NOT_OF_MACHINE = `${VENV} was made with a Python that is none of the machine's own; it is not started, and what is in ${VENV} stays as it is: put that Python on the PATH of the hub, or remove ${VENV}, and install again.`;
const NOT_USABLE = `${VENV} in the target is no environment that can be filled (its Python is gone, is a copy inside of it, or does not work), and what is in it stays as it is: move it away or remove it, and install again.`;

/** Such as `3.12.1`; undefined when it does not say. */
export async function pythonVersion(program: string, context: InstallContext): Promise<string | undefined> {
  const request = { program, args: [...NOTHING_ELSE, '-c', PRINT_VERSION], cwd: outsideOf(context) };
  const { exitCode, stdout } = await runProgram({ ...request, whenMissing: NO_PYTHON }, context);
  return exitCode === 0 ? stdout.trim() : undefined;
}

const PRINT_VERSION = 'import sys; print(".".join(map(str, sys.version_info[:3])))';

/** After an upgrade of Python, packages go into another folder than before: which one is in use is told by the settings. */
export async function keepVersion(version: string, { targetDir }: InstallContext): Promise<void> {
  const settings = (await readPlainText(join(targetDir, VENV, SETTINGS))) ?? '';
  if (environmentVersion(settings) === environmentVersion(`version = ${version}`)) return;
  const others = settings.split('\n').filter((line) => line !== '' && !/^version(_info)? *=/.test(line));
  await writeFileInside(targetDir, `${VENV}/${SETTINGS}`, `${[...others, `version = ${version}`].join('\n')}\n`);
}

/** Descriptions may have come with the target: no option may be read into them. */
const [NAME, VERSION] = [/^[a-z0-9][a-z0-9-]*$/, /^\w[\w.!+-]*$/];

/** Options that keep what is there, so that a second package does not move what the first one needs; none in an empty environment. */
export async function keepInstalled(
  requirement: string,
  there: Environment | undefined,
  { workDir }: InstallContext,
): Promise<string[]> {
  const wanted = normalName(/^[\w.-]+/.exec(requirement)?.[0] ?? '');
  const installed = [...(await versionsIn(there))].map(([name, version]) => ({ name, version }));
  const kept = installed.filter(
    ({ name, version }) =>
      ![wanted, 'pip', 'setuptools', 'wheel'].includes(name) && NAME.test(name) && VERSION.test(version),
  );
  if (kept.length === 0) return [];
  const file = join(workDir, 'constraints.txt');
  await writeFile(file, kept.map(({ name, version }) => `${name}==${version}\n`).join(''));
  return ['--constraint', file];
}

export interface Undertaking {
  tool: string;
  /** That of the manifest; without one, those that the machine is set up for are asked. */
  indexUrl?: string;
}

/** @throws InstallError */
export async function done(
  undertaking: Undertaking,
  running: RunResult | Promise<RunResult>,
  context: InstallContext,
): Promise<RunResult> {
  const result = await running;
  if (result.exitCode === 0) return result;
  throw toolError(undertaking, result, context);
}

const CAUSES: readonly [RegExp, string][] = [
  [
    /Failed to query Python interpreter.*Permission denied \(os error 13\)/s,
    'No program may be started in the folder for temporary files of the hub (it may be mounted with noexec), which uv needs: set TMPDIR to a folder where that is allowed, and start the hub again.',
  ],
  [HELD_BACK, 'The index leads to an address that the hub may not connect to.'],
  [/DO NOT MATCH THE HASHES|Hash mismatch/i, 'What the index sent is not what it should be: its digest differs.'],
  // First: an index that does not answer has no versions either, as pip says it.
  [
    /Connection refused|Name or service not known|Temporary failure|NewConnectionError|Failed to fetch|timed out/i,
    'The package index could not be reached.',
  ],
  [
    /No matching distribution|No solution found|not found in the package registry|Could not find a version/i,
    'The index has no such package or version as a wheel for this Python; packages that must be built would run their code on the machine of the hub, and are not.',
  ],
  [
    /a dependency is given by its address/,
    'Something that it needs is given by an address and not by a name: that is not installed, because it could have to be built, which would run its code on the machine of the hub.',
  ],
  [/ResolutionImpossible|conflicting dependencies/i, 'What it needs cannot be had together.'],
];

function toolError(
  { tool, indexUrl }: Undertaking,
  { stdout, stderr }: RunResult,
  { targetDir, workDir }: InstallContext,
): InstallError {
  // Where the target is on the machine of the hub is nothing for a report, nor what is gone when it is read.
  const said = `${stdout}\n${stderr}`.replaceAll(`${workDir}${sep}`, '').replaceAll(`${targetDir}${sep}`, '');
  // An index of the operator's may have a token anywhere in its address.
  const output = outputEnd(indexUrl === undefined ? withHostsOnly(said) : said);
  const cause = CAUSES.find(([pattern]) => pattern.test(output))?.[1];
  const lastLine = output.split('\n').findLast((line) => line.trim() !== '') ?? 'it said nothing';
  return new InstallError(cause ?? `${tool} failed: ${lastLine.slice(0, 300)}.`, { extra: { output } });
}
