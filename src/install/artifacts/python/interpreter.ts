// The Python of this machine, and what an environment made with it offers.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { InstallError } from '../../errors.ts';
import { absent } from '../../target/files.ts';
import type { ArtifactContext, Program } from '../artifact.ts';
import { tryProgram } from '../program.ts';
import { normalName } from './requirements.ts';

export const NO_PYTHON =
  'Python 3.9 or newer is not installed on this machine: install Python, or install uv and run `uv python install`.';

const OLDEST = '3.9';

export const WINDOWS = process.platform === 'win32';
const BIN = WINDOWS ? 'Scripts' : 'bin';
export const PYTHON = `${BIN}/python${WINDOWS ? '.exe' : ''}`;

const Answer = z.object({ file: z.string().min(1), version: z.string(), platform: z.string(), home: z.string() });

/** `version` is such as `3.12`, `platform` as `sysconfig.get_platform()` says it, `home` the home folder of the user. */
export interface Interpreter extends z.infer<typeof Answer> {
  /** What installs packages: uv where it is installed, otherwise pip. */
  tool: 'uv' | 'pip';
}

/** Prefers the given version, and otherwise takes any that is new enough. @throws InstallError */
export async function findInterpreter(context: ArtifactContext, preferred?: string): Promise<Interpreter> {
  for (const wanted of [...(preferred ? [preferred] : []), `>=${OLDEST}`]) {
    const file = await tryProgram('uv', ['python', 'find', '--system', '--color', 'never', wanted], context);
    const found = file && (await ask(file, context));
    if (found) return { tool: 'uv', ...found };
  }
  for (const file of [...(preferred ? [`python${preferred}`] : []), ...(WINDOWS ? [] : ['python3']), 'python']) {
    const found = await ask(file, context);
    if (found) return { tool: 'pip', ...found };
  }
  throw new InstallError(NO_PYTHON);
}

const QUESTION = `import json, os, sys, sysconfig
version = "%d.%d" % sys.version_info[:2]
print(json.dumps({"file": sys.executable, "version": version, "platform": sysconfig.get_platform(), "home": os.path.expanduser("~")}))`;

/** Undefined when it is not a Python that works, or too old. */
async function ask(file: string, context: ArtifactContext): Promise<z.infer<typeof Answer> | undefined> {
  const output = await tryProgram(file, ['-I', '-c', QUESTION], context);
  const answer = output === undefined ? undefined : Answer.parse(JSON.parse(output));
  return answer && compareVersions(answer.version, OLDEST) >= 0 ? answer : undefined;
}

export function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** The programs of a package, and the interpreter for `python -m`. Undefined when the package is not installed. */
export async function programsOf(name: string, folder: string): Promise<Program[] | undefined> {
  const versions = WINDOWS ? [] : await readdir(join(folder, 'lib'));
  const packages = join(folder, ...(WINDOWS ? ['Lib'] : ['lib', String(versions[0])]), 'site-packages');
  const descriptions = (await readdir(packages)).filter((entry) => entry.endsWith('.dist-info'));
  const description = descriptions.find((entry) => normalName(entry.split('-')[0] ?? '') === name);
  if (description === undefined) return undefined;
  const text = async (file: string) => (await readFile(join(packages, description, file), 'utf8').catch(absent)) ?? '';
  const scripts = consoleScripts(await text('entry_points.txt'));
  const programs = installedFiles(await text('RECORD')).map((file) => toProgram(file, scripts));
  return [...programs.filter((program) => program.name !== 'python'), { name: 'python', file: PYTHON }];
}

/** Names in the section `console_scripts`. */
function consoleScripts(entryPoints: string): Set<string> {
  const section = /^\[console_scripts\]\s*$([\s\S]*?)(?=^\[|(?![\s\S]))/m.exec(entryPoints)?.[1] ?? '';
  return new Set(section.split('\n').flatMap((line) => /^\s*([^\s=#;]+)\s*=/.exec(line)?.[1] ?? []));
}

/** Paths in RECORD are relative to site-packages: those of programs lead to the folder of programs beside it. */
function installedFiles(record: string): string[] {
  const program = new RegExp(`^(?:\\.\\.[/\\\\])+${BIN}[/\\\\]([\\w][\\w.-]*),`);
  return record.split('\n').flatMap((line) => program.exec(line)?.[1] ?? []);
}

/** Scripts start with the path of the interpreter, which may be too long for the system: they are started by it. */
function toProgram(file: string, scripts: ReadonlySet<string>): Program {
  const program = { name: WINDOWS ? file.replace(/\.exe$/, '') : file, file: `${BIN}/${file}` };
  return !WINDOWS && scripts.has(file) ? { ...program, interpreter: PYTHON } : program;
}
