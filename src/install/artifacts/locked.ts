// Whether what is about to be installed is what the lockfile says.
import { type Dependency, InstallError } from './artifact-installer.ts';

/** @throws InstallError that names the first difference. */
export function checkSameDependencies(what: string, found: readonly Dependency[], locked: readonly Dependency[]): void {
  const expected = new Map(locked.map(({ resolved, integrity }) => [resolved, integrity]));
  for (const { resolved, integrity } of found) {
    if (!expected.has(resolved)) throw new InstallError(`${what} now needs ${resolved}, which is not in the lockfile.`);
    if (expected.get(resolved) !== integrity)
      throw new InstallError(`${resolved} is another than in the lockfile: its digest is ${integrity}.`);
    expected.delete(resolved);
  }
  const [missing] = expected.keys();
  if (missing !== undefined)
    throw new InstallError(`The lockfile has ${missing}, which ${what} does not need any more.`);
}
