// Which places inside a target a manifest may choose.
import { relativePathFault } from '../lib/path-inside.ts';
import { trimSigns } from '../lib/trim-signs.ts';
import { LOCKFILE_NAME } from './contract.ts';

/** Of the hub itself, inside each target: its lock, and what is not finished yet. */
export const HUB_FOLDER = '.hub';

/** Of package managers, git and installs themselves: nothing that a manifest names goes there. */
export const OTHERS_PLACES = [
  '.git',
  '.npmrc',
  '.venv',
  'node_modules',
  'npm-shrinkwrap.json',
  'package.json',
  'package-lock.json',
  'vendor',
  'yarn.lock',
];

/** Of MCP clients, which start what these name: only entries are put in, and nothing else goes there. */
export const CLIENT_FILES = { claude: '.mcp.json', cursor: '.cursor/mcp.json', vscode: '.vscode/mcp.json' } as const;

/** The file of a client that a path is, is inside of, or is above. */
export function clientFileAt(path: string): string | undefined {
  return Object.values(CLIENT_FILES).find((file) => overlap(file, path));
}

/** What keeps a path from being a place for files of a manifest, as the end of a sentence; undefined when nothing does. */
export function placeFault(path: string): string | undefined {
  const fault = relativePathFault(path);
  if (fault) return fault;
  // Some filesystems do not tell capital letters from small ones.
  const [first] = path.toLowerCase().split('/');
  if (first === HUB_FOLDER || first === LOCKFILE_NAME) return 'is kept for the hub itself';
  return undefined;
}

/** Whether two places are the same, or one is inside the other. */
export function overlap(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => `${path.toLowerCase().replace(/\/$/, '')}/`) as [string, string];
  return a.startsWith(b) || b.startsWith(a);
}

/** A name for a file or folder, made from any text. */
export function safeName(text: string): string {
  const plain = text.normalize('NFKD').replace(/[^A-Za-z0-9._-]+/g, '-');
  return trimSigns(plain, '-.').slice(0, 80) || 'unnamed';
}
