// Links and pictures of a readme that are relative to the repository it lies in.
import { safeLink } from './safe-link.ts';

/** What stands before the path of a file, where it is shown in its newest state. No object, which has a `constructor` too. */
const FILES: ReadonlyMap<string, string> = new Map([
  ['github.com', 'blob/'],
  ['gitlab.com', '-/blob/'],
]);

/** What a repository has besides its files, and files of another branch. */
const PAGES =
  /^(?:(?:issues|pulls|merge_requests|wiki|wikis|releases|tags|discussions|actions|pipelines|projects|milestones|labels|security)(?![^/?#])|(?:blob|tree|raw)\/[^/?#]+\/)/;

/** Undefined where the repository is not known, and for what would lead out of it. */
export function repositoryLink(target: string, repository: string | undefined): string | undefined {
  const place = repository === undefined ? undefined : placeOf(repository);
  if (!place || !isRelative(target)) return undefined;
  const base = target.startsWith('/') ? place.files : place.folder;
  const path = target.replace(/^\/+/, '');
  if (!URL.canParse(path, base)) return undefined;
  const { href } = new URL(path, base);
  return href.startsWith(place.files) || isPage(href, path, place) ? safeLink(href) : undefined;
}

/** The same of a picture: the file itself, not the page that shows it. */
export function repositoryPicture(target: string, repository: string | undefined): string | undefined {
  const place = repository === undefined ? undefined : placeOf(repository);
  const link = repositoryLink(target, repository);
  if (!place || !link?.startsWith(place.files)) return undefined;
  return `${place.pictures}${link.slice(place.files.length)}`;
}

/** Hosts lead `../../issues` to the page of that name; `../LICENSE` only seems to be one, for it steps on the branch. */
function isPage(href: string, path: string, { pages }: RepositoryPlace): boolean {
  const named = path.replace(/^(?:\.\.\/)+/, '');
  return PAGES.test(named) && href === `${pages}${named}`;
}

/** Whether it names a place from here: `//host` and backslashes lead elsewhere, and `x:` may do anything. */
export function isRelative(target: string): boolean {
  return target !== '' && !/^\/\/|^[^/?#]*:|[\\\p{Cc}]/u.test(target);
}

interface RepositoryPlace {
  /** What it has besides files is below. */
  pages: string;
  /** Its files. */
  files: string;
  /** The same without the page around them. */
  pictures: string;
  /** Those beside the readme. */
  folder: string;
}

function placeOf(repository: string): RepositoryPlace | undefined {
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
