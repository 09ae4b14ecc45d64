// Where in a target an artifact goes, and what it may replace there.
import { lstat, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { pathInside, relativePathFault, replaceInside } from '../../lib/files.ts';
import { LOCKFILE_NAME } from '../contract.ts';
import { OTHERS_PLACES } from '../places.ts';
import { InstallError } from './artifact-installer.ts';

/** The folder that belongs to installs: what is below it is replaced without asking. */
export const VENDOR = 'vendor';
/** Elsewhere, a folder with this file in it was put there by an install. */
export const MARK = '.hub-artifact';
/** Other installers and the lockfile have their place there. */
const TAKEN = [...OTHERS_PLACES, LOCKFILE_NAME];

/** A folder below the target. */
export const Destination = z.string().transform((text, context) => {
  const path = text
    .trim()
    .replace(/^(\.\/)+/, '')
    .replace(/\/+$/, '');
  const fault = destinationFault(path);
  if (fault === undefined) return path;
  context.addIssue({ code: 'custom', message: fault });
  return z.NEVER;
});

function destinationFault(path: string): string | undefined {
  if (path === '' || path === '.') return 'must name a folder below the target, not the target itself';
  const fault = relativePathFault(path);
  if (fault) return fault;
  if (path.startsWith('-')) return "must not start with '-'";
  const [first = ''] = path.split('/');
  const isTaken =
    TAKEN.includes(path.toLowerCase()) || (first.toLowerCase() !== VENDOR && TAKEN.includes(first.toLowerCase()));
  if (isTaken || first.startsWith('.hub')) return `must not be '${first}', which is kept for other things`;
  return path.toLowerCase().split('/').includes('.git') ? "must not be inside '.git'" : undefined;
}

/** `vendor/<name>`, with the name made from the last part of an address. */
export function vendorFolder(address: string): string {
  const path = URL.canParse(address) ? new URL(address).pathname : address;
  const last = path.split('/').filter(Boolean).at(-1) ?? '';
  const name = safely(last)
    .replace(/\.(zip|tgz|tar\.gz|mcpb|git)$/i, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+|[. -]+$/g, '')
    .slice(0, 100);
  return `${VENDOR}/${name || 'archive'}`;
}

function safely(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Moves a finished folder to its place; one that an install put there is replaced whole. @throws InstallError */
export async function putInPlace(
  folder: string,
  path: string,
  { targetDir, scratchDir }: { targetDir: string; scratchDir: string },
): Promise<void> {
  const isVendored = path.startsWith(`${VENDOR}/`);
  if (!isVendored) {
    await checkReplaceable(targetDir, path);
    const mark = join(folder, MARK);
    // What came with the artifact under this name may be a link.
    await rm(mark, { recursive: true, force: true });
    await writeFile(mark, 'Put here by an install, which replaces this folder when it runs again.\n', { flag: 'wx' });
  }
  await replaceInside(targetDir, path, folder, scratchDir);
}

/** What a person made stays: a manifest must not be able to name it and have it removed. */
async function checkReplaceable(targetDir: string, path: string): Promise<void> {
  const place = await pathInside(targetDir, path);
  const found = await lstat(place).catch(() => undefined);
  if (!found) return;
  if (!found.isDirectory()) throw new InstallError(`'${path}' is a file; remove it, or choose another dest.`);
  const names = await readdir(place);
  if (names.length === 0 || names.includes(MARK)) return;
  throw new InstallError(`'${path}' holds files that no install put there; remove them, or choose another dest.`);
}
