// Where tests keep programs that they install: outside the repository, so that other clones on the same machine use them too.
import { homedir } from 'node:os';
import { join } from 'node:path';

const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'catalog-hub');

/** A folder for each version of what is installed: a new one comes beside the old one. */
export function cacheFolder(group: string, installed: string): string {
  return join(CACHE, group, installed.replaceAll(/[^\w.-]+/g, '-'));
}
