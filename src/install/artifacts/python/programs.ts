// The programs of a Python package, as its own metadata lists them.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../../../lib/absent.ts';
import type { Program } from '../artifact.ts';
import { normalName } from './python-spec.ts';
import { BIN, PYTHON, WINDOWS } from './python-tool.ts';

/** The programs of the package, and the interpreter for `python -m`. Undefined when the package is not installed. */
export async function programsOf(name: string, folder: string): Promise<Program[] | undefined> {
  const packages = await sitePackages(folder);
  const description = (await readdir(packages)).find((each) => describedName(each) === name);
  if (description === undefined) return undefined;
  const text = async (file: string) => (await readFile(join(packages, description, file), 'utf8').catch(absent)) ?? '';
  const scripts = consoleScripts(await text('entry_points.txt'));
  const programs = installedFiles(await text('RECORD')).map((file) => toProgram(file, scripts));
  return [...programs.filter((program) => program.name !== 'python'), { name: 'python', file: PYTHON }];
}

async function sitePackages(folder: string): Promise<string> {
  if (WINDOWS) return join(folder, 'Lib', 'site-packages');
  const versions = await readdir(join(folder, 'lib'));
  return join(folder, 'lib', versions.find((each) => /^(python|pypy)3/.test(each)) ?? '', 'site-packages');
}

function describedName(entry: string): string | undefined {
  return entry.endsWith('.dist-info') ? normalName(entry.split('-')[0] ?? '') : undefined;
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
