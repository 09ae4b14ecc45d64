// Reserved paths inside a target: those of the hub, of artifacts and of other programs.
/** Everything that the hub builds in a target. Git ignores it, and it can be deleted. */
export const HUB_FOLDER = '.hub';

/** Folder inside `.hub` for unfinished artifacts. */
export const STAGING = 'staging';

/** File inside `.hub` that a running install locks. */
export const LOCK = 'lock';

/** File inside `.hub` that makes Git ignore it. */
export const IGNORE = '.gitignore';

/** Folder of checkouts, archives and bundles whose manifest does not choose one. */
export const VENDOR = 'vendor';

/** Names of package managers and the hub: a manifest cannot choose them, nor any that starts with a dot. */
export const RESERVED = [
  ...['node_modules', 'npm-shrinkwrap.json', 'package.json', 'package-lock.json', 'yarn.lock'],
  ...['pyproject.toml', VENDOR],
];

/** Names of files that other programs run or that coding agents read as instructions, in any folder. */
export const FOLLOWED =
  /^(?:(?:agents|claude|gemini)\.md|(?:conftest|setup|sitecustomize|usercustomize)\.py|(?:gnu)?makefile|(?:docker|jenkins|just|rake)file)$/i;

export function overlap(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => `${path.toLowerCase().replace(/\/$/, '')}/`) as [string, string];
  return a.startsWith(b) || b.startsWith(a);
}

const LONGEST_NAME = 80;

export function safeName(text: string, otherwise = 'unnamed'): string {
  const plain = text.normalize('NFKD').replace(/[^A-Za-z0-9._-]+/g, '-');
  const trimmed = plain
    .replace(/^[-.]+/, '')
    .slice(0, LONGEST_NAME)
    .replace(/[-.]+$/, '');
  return trimmed || otherwise;
}
