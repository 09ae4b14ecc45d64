// The machine's own Python, started as if it were that of a virtual environment: nothing that lies in there is run.
import { realpath, writeFile } from 'node:fs/promises';
import { join, parse, sep } from 'node:path';
import type { InstallContext } from './artifact-installer.ts';
import { works } from './program.ts';

export const VENV = '.venv';
export const WINDOWS = process.platform === 'win32';
const VENV_PYTHON = WINDOWS ? ['Scripts', 'python.exe'] : ['bin', 'python'];

/** Where programs of Python make and fill an environment, out of reach of whoever puts links into the target. */
export function workVenv({ workDir }: Pick<InstallContext, 'workDir'>): string {
  return join(workDir, VENV);
}

/**
 * -I: neither the folder it runs in nor settings from outside add modules. -S: without `site`, which would run the
 * `.pth` files and the `sitecustomize` of an environment. -B: nothing is written beside modules.
 */
export const NOTHING_ELSE = ['-I', '-S', '-B'];

/** Of the environment in the target: as a text for those who will use it. */
export function venvPython({ targetDir }: Pick<InstallContext, 'targetDir'>): string {
  return join(targetDir, VENV, ...VENV_PYTHON);
}

/**
 * The program that the environment in the target was made from, whosever it is. That of the environment itself is never
 * started: it would take its standard library from wherever `pyvenv.cfg` says. Undefined when there is none, or when it came
 * with the target.
 */
export async function linkedPython(context: Pick<InstallContext, 'targetDir'>): Promise<string | undefined> {
  const own = await realpath(venvPython(context)).catch(() => undefined);
  return own?.startsWith(`${context.targetDir}${sep}`) ? undefined : own;
}

/** The Python that an environment in the work folder was just made from. */
export async function madePython(context: Pick<InstallContext, 'workDir'>): Promise<string> {
  const own = join(workVenv(context), ...VENV_PYTHON);
  // There it is a copy, which needs the settings beside it.
  return WINDOWS ? own : realpath(own);
}

/**
 * Where programs of Python are run. uv and some that stand for `python3` look in the folder and in all above it for
 * settings, such as `uv.toml`, `pyproject.toml` and `.python-version`, which may name a program to start.
 */
export function outsideOf({ targetDir }: Pick<InstallContext, 'targetDir'>): string {
  return parse(targetDir).root;
}

/** `works`, where no settings of the target are found. */
export function worksOutside(program: string, args: readonly string[], context: InstallContext): Promise<boolean> {
  return works(program, args, { ...context, workDir: outsideOf(context) });
}

/**
 * What `site` would do in an environment, and nothing more; for the code after it, `asked` is what else was given. The
 * executable is a text for scripts: what is looked for beside it or read from it, such as the C library, is the machine's.
 */
export const IN_ENVIRONMENT = `import builtins, sys
environment, executable, *asked = sys.argv[1:]
sys.prefix = sys.exec_prefix = environment
import sysconfig
machine, opened = sys.executable, open
builtins.open = lambda file, *args, **options: opened(machine if file == executable else file, *args, **options)
sys._base_executable, sys.executable = machine, executable
`;

/** The first arguments for code that begins with `IN_ENVIRONMENT`: where things go, and what scripts say of their Python. */
export function environmentArgs(context: Pick<InstallContext, 'targetDir' | 'workDir'>): string[] {
  return [workVenv(context), venvPython(context)];
}

const RUN_CODE = `${IN_ENVIRONMENT}
if "-c" not in asked:
    sys.exit("Only code can be run here, as it is given to -c.")
given = asked.index("-c") + 1
sys.argv = ["-c", *asked[given + 1:]]
exec(asked[given], {"__name__": "__main__"})
`;

/**
 * Writes a program that other programs take for the Python of the environment, and ask what they want to know of it. uv
 * remembers by its path what a Python said: each work folder has its own.
 */
export async function writePython(python: string, context: InstallContext): Promise<string> {
  if (WINDOWS) return python;
  const command = [python, ...NOTHING_ELSE, '-c', RUN_CODE, ...environmentArgs(context)];
  const script = `#!/bin/sh\nexec ${command.map(quoted).join(' ')} "$@"\n`;
  const path = join(context.workDir, 'python');
  await writeFile(path, script, { mode: 0o700 });
  return path;
}

function quoted(argument: string): string {
  return `'${argument.replaceAll("'", "'\\''")}'`;
}
