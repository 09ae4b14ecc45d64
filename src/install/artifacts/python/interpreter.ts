// The Python that environments are made with.
import { parse } from 'node:path';
import { z } from 'zod';
import { InstallError } from '../../errors.ts';
import type { ArtifactContext } from '../artifact.ts';
import { runProgram, works } from '../program.ts';

export const NO_PYTHON =
  'Python 3.9 or newer is not installed on this machine: install Python, or install uv and run `uv python install`.';

const OLDEST = '3.9';

export interface Interpreter {
  /** What installs packages: uv where it is installed, otherwise pip. */
  tool: 'uv' | 'pip';
  file: string;
  /** Such as `3.12`. */
  version: string;
  /** As `sysconfig.get_platform()` says it. */
  platform: string;
  /** The home folder of the user. */
  home: string;
}

/** Prefers the given version, and otherwise takes any that is new enough. @throws InstallError */
export async function findInterpreter(context: ArtifactContext, preferred?: string): Promise<Interpreter> {
  const hasUv = await works('uv', ['--version'], { ...context, stagingDir: neutralFolder(context) });
  const tool = hasUv ? 'uv' : 'pip';
  for (const file of hasUv ? await uvCandidates(context, preferred) : pathCandidates(preferred)) {
    const found = await ask(file, context);
    if (found && compareVersions(found.version, OLDEST) >= 0) return { tool, ...found };
  }
  throw new InstallError(NO_PYTHON);
}

/**
 * uv and some programs that stand for `python3` read settings in the current folder and in all above it, such as
 * `uv.toml` and `.python-version`. Those of the target must not count.
 */
export function neutralFolder({ stagingDir }: Pick<ArtifactContext, 'stagingDir'>): string {
  return parse(stagingDir).root;
}

async function uvCandidates(context: ArtifactContext, preferred: string | undefined): Promise<string[]> {
  const found: string[] = [];
  for (const request of preferred ? [preferred, `>=${OLDEST}`] : [`>=${OLDEST}`]) {
    const args = ['python', 'find', '--system', '--color', 'never', request];
    const env = { UV_PYTHON_DOWNLOADS: 'never' };
    const run = { program: 'uv', args, cwd: neutralFolder(context), env, whenMissing: NO_PYTHON };
    const { exitCode, stdout } = await runProgram(run, context);
    if (exitCode === 0) found.push(stdout.trim());
  }
  return found;
}

function pathCandidates(preferred: string | undefined): string[] {
  const usual = process.platform === 'win32' ? ['python'] : ['python3', 'python'];
  return preferred ? [`python${preferred}`, ...usual] : usual;
}

const QUESTION = `import json, os, sys, sysconfig
version = "%d.%d" % sys.version_info[:2]
print(json.dumps({"file": sys.executable, "version": version, "platform": sysconfig.get_platform(), "home": os.path.expanduser("~")}))`;

const Answer = z.object({ file: z.string().min(1), version: z.string(), platform: z.string(), home: z.string() });

/** Undefined when it is not a Python that works. */
async function ask(file: string, context: ArtifactContext): Promise<z.infer<typeof Answer> | undefined> {
  const request = { program: file, args: ['-I', '-c', QUESTION], cwd: neutralFolder(context), whenMissing: NO_PYTHON };
  const answer = await runProgram(request, context).catch((error: unknown) => {
    if (error instanceof InstallError && !context.signal.aborted) return undefined;
    throw error;
  });
  return answer?.exitCode === 0 ? Answer.parse(JSON.parse(answer.stdout)) : undefined;
}

/** Of versions such as `3.9` and `3.12`. */
export function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
