// Where tests store installed programs: outside the repository, so other clones on the same machine share them.
import { homedir } from 'node:os';
import { join } from 'node:path';

const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'catalog-hub');

/** A separate folder for each version of what is installed. */
export function cacheFolder(group: string, installed: string): string {
  return join(CACHE, group, installed.replaceAll(/[^\w.-]+/g, '-'));
}
