// Which of the packages that are wanted an environment does not have as they should be.
import { join } from 'node:path';
import { describedName, type Environment, versionIn } from './pypi-environment.ts';
import type { PinnedPackage } from './pypi-packages.ts';
import { changedFile, hasList, listedInside } from './pypi-record.ts';
import { isVersion } from './pypi-version.ts';

export interface Lacking {
  /** Not there, of another version, only in part, or changed. */
  packages: PinnedPackage[];
  /** Of which somebody changed files. */
  changed: string[];
}

/** @throws InstallError when to replace one is not safe. */
export async function findLacking(
  wanted: readonly PinnedPackage[],
  environment: Environment | undefined,
): Promise<Lacking> {
  const lacking: Lacking = { packages: [], changed: [] };
  for (const each of wanted) {
    const states = await statesOf(each, environment);
    if (states.length !== 1 || states[0] !== 'as it should be') lacking.packages.push(each);
    if (states.includes('changed')) lacking.changed.push(`${each.name}==${each.version}`);
  }
  return lacking;
}

type State = 'as it should be' | 'another version' | 'changed' | 'a part';

/** Of one package there may be several descriptions, of which programs of Python see any. */
async function statesOf({ name, version }: PinnedPackage, environment: Environment | undefined): Promise<State[]> {
  const states: State[] = [];
  for (const description of environment?.descriptions ?? [])
    if (environment && describedName(description) === name)
      states.push(await stateOf(environment, description, version));
  return states;
}

async function stateOf(environment: Environment, description: string, version: string): Promise<State> {
  await listedInside(environment, description);
  // As an install leaves it that was ended.
  if (!(await hasList(environment, description))) return 'a part';
  if (await changedFile(environment, description)) return 'changed';
  const found = await versionIn(join(environment.packages, description));
  return found !== undefined && isVersion(found, version) ? 'as it should be' : 'another version';
}
