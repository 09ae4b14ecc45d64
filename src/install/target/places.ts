// Which places inside a target belong to whom.
import { CLIENT_LAYOUTS } from '../../catalog/client-config.ts';

/** What the hub builds in each target. Git ignores it, and it can be deleted. */
export const HUB_FOLDER = '.hub';

/** Folder inside `.hub` for artifacts that are not finished. */
export const STAGING = 'staging';

/** Folder of checkouts, archives and bundles whose manifest chooses none. */
export const VENDOR = 'vendor';

/** Names that belong to package managers, to git and to the hub: a manifest cannot choose them. */
export const RESERVED = [
  '.git',
  '.npmrc',
  '.venv',
  'node_modules',
  'npm-shrinkwrap.json',
  'package.json',
  'package-lock.json',
  'pyproject.toml',
  VENDOR,
  'yarn.lock',
];

/** The file of an MCP client that a path is, is inside of, or is above. Only entries are added to such files. */
export function clientFileAt(path: string): string | undefined {
  return Object.values(CLIENT_LAYOUTS).find(({ file }) => overlap(file, path))?.file;
}

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
