// The files that an environment itself is made of: no package may bring, change or take along any of them.
import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../../lib/absent.ts';
import { SETTINGS } from './pypi-environment.ts';

/** The names of a path below the environment, in any case: some filesystems do not tell `Bin` from `bin`. */
export function isOfNoPackage(path: readonly string[]): boolean {
  const [first = '', second, ...deeper] = path.map((name) => name.toLowerCase());
  if (second === undefined) return [SETTINGS, '.lock'].includes(first);
  return deeper.length === 0 && ['bin', 'scripts'].includes(first) && /^(python|pypy)w?[\d.]*t?(\.exe)?$/.test(second);
}

/** Copies them to `aside`, which is not there yet; what is returned puts them back, whatever came in their places. */
export async function keepOwnFiles(environment: string, aside: string): Promise<() => Promise<void>> {
  const paths: string[][] = [];
  for (const folder of [[], ['bin'], ['Scripts']]) {
    const names = (await readdir(join(environment, ...folder)).catch(absent)) ?? [];
    for (const name of names) if (isOfNoPackage([...folder, name])) paths.push([...folder, name]);
  }
  await mkdir(aside);
  const copies = paths.map((path, at) => ({ place: join(environment, ...path), copy: join(aside, String(at)) }));
  for (const { place, copy } of copies) await cp(place, copy, { verbatimSymlinks: true });
  return async () => {
    for (const { place, copy } of copies) {
      await rm(place, { recursive: true, force: true });
      await cp(copy, place, { verbatimSymlinks: true });
    }
  };
}
