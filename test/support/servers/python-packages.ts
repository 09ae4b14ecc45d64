// Packages from PyPI in a virtual environment that is kept between runs.
import { execFile } from 'node:child_process';
import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const INSTALLED_WITHIN_MS = 600_000;
const IS_WINDOWS = process.platform === 'win32';

/** The folder with the programs of a virtual environment. */
export function programsOf(home: string): string {
  return join(home, IS_WINDOWS ? 'Scripts' : 'bin');
}

/** Returns why they could not be installed; undefined on success. */
export async function installPackages(home: string, packages: readonly string[]): Promise<string | undefined> {
  const complete = join(home, 'complete');
  if (await isThere(complete)) return undefined;
  // Downloading a Python may take longer than using pip with the local one.
  const env = { ...process.env, UV_PYTHON_DOWNLOADS: 'never' };
  const program = (name: string, ...words: string[]) =>
    promisify(execFile)(name, words, { timeout: INSTALLED_WITHIN_MS, env });
  const empty = async () => {
    await rm(home, { recursive: true, force: true });
    await mkdir(dirname(home), { recursive: true });
  };
  // Takes seconds where pip takes a minute, but ignores a mirror configured for pip.
  const byUv = async () => {
    await empty();
    await program('uv', 'venv', '--quiet', home);
    await program('uv', 'pip', 'install', '--quiet', '--compile-bytecode', '--python', home, ...packages);
  };
  const byPip = async () => {
    await empty();
    await program(IS_WINDOWS ? 'python' : 'python3', '-m', 'venv', home);
    await program(join(programsOf(home), 'pip'), 'install', '--no-input', '--quiet', '--retries', '2', ...packages);
  };
  try {
    await byUv();
  } catch (uvError) {
    try {
      await byPip();
    } catch (pipError) {
      return `${packages.join(' ')} could not be installed from PyPI. uv: ${reasonOf(uvError)}. pip: ${reasonOf(pipError)}`;
    }
  }
  await writeFile(complete, '');
  return undefined;
}

function reasonOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return stderr?.trim().split('\n').slice(-3).join(' ') || message;
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
