// Real programs that some tests need and not every machine has.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const folders = (process.env.PATH ?? '').split(delimiter);

/** For a test's `skip`. CI skips nothing: a missing program is a failure there. */
export function unlessHere(...programs: string[]): string | false {
  const missing = programs.filter((program) => !folders.some((folder) => existsSync(join(folder, program))));
  if (missing.length === 0 || process.env.CI) return false;
  const packages = missing.map((program) => (program === 'uv' ? 'uv (pip install uv)' : program));
  return `*** not on the PATH: ${packages.join(', ')}; install it, on Debian with apt-get install ***`;
}
