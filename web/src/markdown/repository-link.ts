// Resolves relative links and pictures of a readme against its repository.
import { safeLink } from './safe-link.ts';

/** Path prefix of files on a host. A Map, because an object also has inherited keys such as `constructor`. */
const FILES: ReadonlyMap<string, string> = new Map([
  ['github.com', 'blob/'],
  ['gitlab.com', '-/blob/'],
]);

/** Pages of a repository besides its files, and files of other branches. */
const PAGES =
  /^(?:(?:issues|pulls|merge_requests|wiki|wikis|releases|tags|discussions|actions|pipelines|projects|milestones|labels|security)(?![^/?#])|(?:blob|tree|raw)\/[^/?#]+\/)/;

/** Returns undefined if the repository is unknown, or the target leads out of it. */
export function repositoryLink(target: string, repository: string | undefined): string | undefined {
  const urls = repository === undefined ? undefined : urlsOf(repository);
  if (!urls || !isRelative(target)) return undefined;
  const base = target.startsWith('/') ? urls.files : urls.folder;
  const path = target.replace(/^\/+/, '');
  if (!URL.canParse(path, base)) return undefined;
  const { href } = new URL(path, base);
  return href.startsWith(urls.files) || isPage(href, path, urls) ? safeLink(href) : undefined;
}

/** Like `repositoryLink`, for a picture: the raw file instead of its page. */
export function repositoryPicture(target: string, repository: string | undefined): string | undefined {
  const urls = repository === undefined ? undefined : urlsOf(repository);
  const link = repositoryLink(target, repository);
  if (!urls || !link?.startsWith(urls.files)) return undefined;
  return `${urls.pictures}${link.slice(urls.files.length)}`;
}

/** Hosts resolve `../../issues` to that page; `../LICENSE` looks similar, but stays within the branch. */
function isPage(href: string, path: string, { pages }: RepositoryUrls): boolean {
  const named = path.replace(/^(?:\.\.\/)+/, '');
  return PAGES.test(named) && href === `${pages}${named}`;
}

/** Whether the target is relative: `//host` and backslashes lead to other hosts, and `x:` is another scheme. */
export function isRelative(target: string): boolean {
  return target !== '' && !/^\/\/|^[^/?#]*:|[\\\p{Cc}]/u.test(target);
}

interface RepositoryUrls {
  /** Base address of pages that are not files. */
  pages: string;
  /** Base address of files. */
  files: string;
  /** Base address of raw files. */
  pictures: string;
  /** Base address of files next to the readme. */
  folder: string;
}

function urlsOf(repository: string): RepositoryUrls | undefined {
  const address = safeLink(repository.replace(/^git\+/, ''));
  if (!address) return undefined;
  const { protocol, hostname, pathname } = new URL(address);
  const [, owner, name, ref = 'HEAD', below = ''] =
    /^\/([^/]+)\/([^/]+?)(?:\.git)?(?:\/-)?(?:\/tree\/([^/]+)(\/.+?)?)?\/?$/.exec(pathname) ?? [];
  const before = FILES.get(hostname);
  if (protocol !== 'https:' || before === undefined || !owner || !name) return undefined;
  const root = `https://${hostname}/${owner}/${name}/`;
  const files = `${root}${before}${ref}/`;
  return {
    pages: `${root}${before.replace('blob/', '')}`,
    files,
    pictures: `${root}${before.replace('blob/', 'raw/')}${ref}/`,
    folder: `${files}${below.replace(/^\//, '')}${below ? '/' : ''}`,
  };
}
