// The machine's own Python, started as if it were that of a virtual environment: nothing that lies in there is run.
import { createHash } from 'node:crypto';
import { realpath, writeFile } from 'node:fs/promises';
import { join, parse, sep } from 'node:path';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { ownFolder } from './own-folder.ts';

export const VENV = '.venv';
export const WINDOWS = process.platform === 'win32';
const VENV_PYTHON = WINDOWS ? ['Scripts', 'python.exe'] : ['bin', 'python'];

/**
 * -I: neither the folder it runs in nor settings from outside add modules. -S: without `site`, which would run the
 * `.pth` files and the `sitecustomize` of an environment. -B: nothing is written beside modules.
 */
export const NOTHING_ELSE = ['-I', '-S', '-B'];

export function venvPython({ targetDir }: Pick<InstallContext, 'targetDir'>): string {
  return join(targetDir, VENV, ...VENV_PYTHON);
}

/**
 * The Python that an environment was made from. That of the environment itself is never started: it would take its
 * standard library from wherever `pyvenv.cfg` says. Undefined when there is none, or when it came with the target.
 */
export async function machinePython(context: Pick<InstallContext, 'targetDir'>): Promise<string | undefined> {
  const own = await realpath(venvPython(context)).catch(() => undefined);
  return own?.startsWith(`${context.targetDir}${sep}`) ? undefined : own;
}

/** @throws InstallError */
export async function demandPython(context: Pick<InstallContext, 'targetDir'>): Promise<string> {
  // There it is a copy inside the target, and so in an environment that this step has made: others are not used.
  if (WINDOWS) return venvPython(context);
  const python = await machinePython(context);
  if (python === undefined)
    throw new InstallError(`${VENV} does not lead to a Python of this machine any more: remove it and install again.`);
  return python;
}

/**
 * Where programs of Python are run. uv and some that stand for `python3` look in the folder and in all above it for
 * settings, such as `uv.toml`, `pyproject.toml` and `.python-version`, which may name a program to start.
 */
export function outsideOf({ targetDir }: Pick<InstallContext, 'targetDir'>): string {
  return parse(targetDir).root;
}

/** What `site` would do in an environment, and nothing more; for the code after it, `asked` is what else was given. */
export const IN_ENVIRONMENT = `import sys
environment, executable, *asked = sys.argv[1:]
sys._base_executable, sys.executable = sys.executable, executable
sys.prefix = sys.exec_prefix = environment
`;

/** The first arguments for code that begins with `IN_ENVIRONMENT`. */
export function environmentArgs(context: Pick<InstallContext, 'targetDir'>): string[] {
  return [join(context.targetDir, VENV), venvPython(context)];
}

const RUN_CODE = `${IN_ENVIRONMENT}
if "-c" not in asked:
    sys.exit("Only code can be run here, as it is given to -c.")
given = asked.index("-c") + 1
sys.argv = ["-c", *asked[given + 1:]]
exec(asked[given], {"__name__": "__main__"})
`;

/** Writes a program that other programs take for the Python of the environment, and ask what they want to know of it. */
export async function writePython(context: Pick<InstallContext, 'targetDir' | 'scratchDir'>): Promise<string> {
  if (WINDOWS) return venvPython(context);
  const command = [await demandPython(context), ...NOTHING_ELSE, '-c', RUN_CODE, ...environmentArgs(context)];
  const script = `#!/bin/sh\nexec ${command.map(quoted).join(' ')} "$@"\n`;
  // uv remembers by its path what a Python said: that of another target must have another.
  const folder = await ownFolder();
  const path = join(folder, `python-${createHash('sha256').update(script).digest('hex').slice(0, 16)}`);
  await writeFile(path, script, { mode: 0o700 });
  return path;
}

function quoted(argument: string): string {
  return `'${argument.replaceAll("'", "'\\''")}'`;
}
