// Finds the Python of this machine, and the programs in an environment.
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { InstallError } from '../../errors.ts';
import { absent } from '../../target/files.ts';
import type { ArtifactContext, Program } from '../artifact.ts';
import { tryProgram } from '../program.ts';
import { normalName } from './requirements.ts';

export const NO_PYTHON =
  'Python 3.9 or newer is not installed on this machine: install Python, or install uv and run `uv python install`.';

const OLDEST = '3.9';
export const PYTHON = 'bin/python';
const Answer = z.object({ file: z.string().min(1), version: z.string(), platform: z.string() });

/** `version` is like `3.12`; `platform` is the result of `sysconfig.get_platform()`. */
export interface Interpreter extends z.infer<typeof Answer> {
  /** uv if it is installed, otherwise pip. */
  tool: 'uv' | 'pip';
}

/** Prefers the given version, but accepts any that is new enough. @throws InstallError */
export async function findInterpreter(context: ArtifactContext, preferred?: string): Promise<Interpreter> {
  for (const wanted of [...(preferred ? [preferred] : []), `>=${OLDEST}`]) {
    const file = await tryProgram('uv', ['python', 'find', '--system', '--color', 'never', wanted], context);
    const found = file && (await ask(file, context));
    if (found) return { tool: 'uv', ...found };
  }
  for (const file of [...(preferred ? [`python${preferred}`] : []), 'python3', 'python']) {
    const found = await ask(file, context);
    if (found) return { tool: 'pip', ...found };
  }
  throw new InstallError(NO_PYTHON);
}

const QUESTION = `import json, sys, sysconfig
version = "%d.%d" % sys.version_info[:2]
print(json.dumps({"file": sys.executable, "version": version, "platform": sysconfig.get_platform()}))`;

/** Returns undefined if it is not a working Python, or too old. */
async function ask(file: string, context: ArtifactContext): Promise<z.infer<typeof Answer> | undefined> {
  const output = await tryProgram(file, ['-I', '-c', QUESTION], context);
  const answer = output === undefined ? undefined : Answer.parse(JSON.parse(output));
  return answer && compareVersions(answer.version, OLDEST) >= 0 ? answer : undefined;
}

export function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** The programs of a package, and the interpreter for `python -m`. @throws InstallError if the package is not installed. */
export async function programsOf(name: string, folder: string): Promise<Program[]> {
  const [version = ''] = await readdir(join(folder, 'lib'));
  const packages = join(folder, 'lib', version, 'site-packages');
  const descriptions = (await readdir(packages)).filter((entry) => entry.endsWith('.dist-info'));
  const description = descriptions.find((entry) => normalName(entry.split('-')[0] ?? '') === name);
  if (description === undefined) throw new InstallError(`'${name}' is not among the packages that were installed.`);
  // Paths in RECORD are relative to site-packages.
  const record = (await readFile(join(packages, description, 'RECORD'), 'utf8').catch(absent)) ?? '';
  const files = [...record.matchAll(/^(?:\.\.\/)+(bin\/\w[\w.-]*),/gm)].map(([, file]) => String(file));
  const programs = files.filter((file) => file !== PYTHON).map((file) => toProgram(file, folder));
  return [...(await Promise.all(programs)), { name: 'python', file: PYTHON }];
}

/** Launchers pass scripts to the interpreter, because the path in the `#!` line may be too long, or change with the folder. */
async function toProgram(file: string, folder: string): Promise<Program> {
  const start = (await readFile(join(folder, file))).subarray(0, 4_096).toString();
  const isPython = start.startsWith('#!') && start.includes(join(folder, PYTHON));
  return { name: basename(file), file, ...(isPython ? { interpreter: PYTHON } : {}) };
}
