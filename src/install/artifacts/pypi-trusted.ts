// Whether a program is a Python of the machine's own: only such a one is started for an environment that is there.
import { realpath, stat } from 'node:fs/promises';
import { basename, sep } from 'node:path';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { runProgram } from './program.ts';
import { NOTHING_ELSE, outsideOf } from './pypi-python.ts';

/** What is on the PATH under the names that are given, and what it starts there: some of it stands for other programs. */
const TELL_PYTHONS = `import os, sys
print(os.path.realpath(sys.executable))
for folder in os.get_exec_path():
    for name in sys.argv[1:]:
        print(os.path.realpath(os.path.join(folder, name)))
`;

/**
 * That it is the hub's own says nothing: so is everything that installs put into targets. What root has is the machine's,
 * unless the hub is root.
 */
export async function isOfMachine(program: string, context: InstallContext): Promise<boolean> {
  const found = await stat(program).catch(() => undefined);
  const name = basename(program);
  if (!found?.isFile() || !/^(python|pypy)[\d.]*[a-z]{0,2}(\.exe)?$/.test(name)) return false;
  if (found.uid === 0 && process.geteuid?.() !== 0 && (found.mode & 0o022) === 0) return true;
  const folder = (await told('uv', ['python', 'dir'], context))[0];
  const ofUv = folder && (await realpath(folder).catch(() => undefined));
  if (ofUv && program.startsWith(`${ofUv}${sep}`)) return true;
  for (const asked of new Set([name, 'python3'])) {
    const pythons = await told(asked, [...NOTHING_ELSE, '-c', TELL_PYTHONS, name, 'python3', 'python'], context);
    if (pythons.includes(program)) return true;
  }
  return false;
}

/** The lines that it says; none when it is not there, or fails. */
async function told(program: string, args: readonly string[], context: InstallContext): Promise<string[]> {
  const request = { program, args, cwd: outsideOf(context), timeoutMs: 20_000, whenMissing: `There is no ${program}.` };
  const result = await runProgram(request, context).catch((error: unknown) => {
    if (context.signal.aborted || !(error instanceof InstallError)) throw error;
    return undefined;
  });
  return result?.exitCode === 0 ? result.stdout.trim().split(/\r?\n/) : [];
}
