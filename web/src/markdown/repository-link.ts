// Links of a readme that are relative to the repository it lies in.
import { safeLink } from './safe-link.ts';

/** What stands before the path of a file, where it is shown in its newest state. */
const FILES: Readonly<Record<string, string>> = { 'github.com': 'blob/', 'gitlab.com': '-/blob/' };

/** Undefined where the repository is not known, and for what would lead out of it. */
export function repositoryLink(target: string, repository: string | undefined): string | undefined {
  const place = repository === undefined ? undefined : placeOf(repository);
  if (!place || !isRelative(target)) return undefined;
  const base = target.startsWith('/') ? place.files : place.folder;
  const path = target.replace(/^\/+/, '');
  if (!URL.canParse(path, base)) return undefined;
  const { href } = new URL(path, base);
  return href.startsWith(place.root) ? safeLink(href) : undefined;
}

/** Whether it names a place from here: `//host` and backslashes lead elsewhere, and `x:` may do anything. */
export function isRelative(target: string): boolean {
  return target !== '' && !/^\/\/|^[^/?#]*:|[\\\p{Cc}]/u.test(target);
}

interface RepositoryPlace {
  /** All of the repository. */
  root: string;
  /** Its files. */
  files: string;
  /** Those beside the readme. */
  folder: string;
}

function placeOf(repository: string): RepositoryPlace | undefined {
  const address = safeLink(repository.replace(/^git\+/, ''));
  if (!address) return undefined;
  const { protocol, hostname, pathname } = new URL(address);
  const [, owner, name, ref = 'HEAD', below = ''] =
    /^\/([^/]+)\/([^/]+?)(?:\.git)?(?:\/-)?(?:\/tree\/([^/]+)(\/.+?)?)?\/?$/.exec(pathname) ?? [];
  const before = FILES[hostname];
  if (protocol !== 'https:' || before === undefined || !owner || !name) return undefined;
  const root = `https://${hostname}/${owner}/${name}/`;
  const files = `${root}${before}${ref}/`;
  return { root, files, folder: `${files}${below.replace(/^\//, '')}${below ? '/' : ''}` };
}
