// Where in a target an artifact goes, and what it may replace there.
import { lstat, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { holdBelow, removeBelow } from '../../lib/held-folder.ts';
import { pathInside, relativePathFault } from '../../lib/path-inside.ts';
import { stageBelow } from '../../lib/place-tree.ts';
import { replaceInside } from '../../lib/replace-inside.ts';
import { trimEndSigns, trimSigns } from '../../lib/trim-signs.ts';
import { LOCKFILE_NAME } from '../contract.ts';
import { clientFileAt, OTHERS_PLACES, overlap } from '../places.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';

/** Where artifacts go whose manifest chooses no place. */
export const VENDOR = 'vendor';
/** A folder with this file in it was put there by an install, also when that did not get to write its lockfile. */
export const MARK = '.hub-artifact';
/** Other installers and the lockfile have their place there. */
const TAKEN = [...OTHERS_PLACES, LOCKFILE_NAME];

const LONGEST = 1_024;

const Path = z.string().max(LONGEST, { error: `must not be longer than ${LONGEST} characters` });

/** A folder below the target. */
export const Destination = Path.transform((text, context) => {
  const path = trimEndSigns(text.trim().replace(/^(\.\/)+/, ''), '/');
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
  if (isTaken || first.toLowerCase().startsWith('.hub'))
    return `must not be '${first}', which is kept for other things`;
  // An archive or a repository could bring such a file along, and with it what the client starts.
  const clientFile = clientFileAt(path);
  if (clientFile) return `must not hold '${clientFile}', which is the configuration of an MCP client`;
  return path.toLowerCase().split('/').includes('.git') ? "must not be inside '.git'" : undefined;
}

/** `vendor/<name>`, with the name made from the last part of an address. */
export function vendorFolder(address: string): string {
  const path = URL.canParse(address) ? new URL(address).pathname : address;
  const last = path.split('/').filter(Boolean).at(-1) ?? '';
  const plain = safely(last)
    .replace(/\.(zip|tgz|tar\.gz|mcpb|git)$/i, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-');
  return `${VENDOR}/${trimSigns(plain, '.-').slice(0, 100) || 'archive'}`;
}

function safely(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

type Place = Pick<InstallContext, 'targetDir' | 'scratchDir' | 'knownPlaces'>;

/** Moves a finished folder to its place; one that an install put there is replaced whole. @throws InstallError */
export async function putInPlace(folder: string, path: string, context: Place): Promise<void> {
  await assertReplaceable(path, context);
  await putMark(folder);
  const from = await stageBelow(folder, { place: context.scratchDir });
  const replaced = await replaceInside(context.targetDir, path, from, context.scratchDir);
  // That something of the old one cannot be removed is no reason to fail.
  await replaced.finish().catch(() => {});
}

async function putMark(folder: string): Promise<void> {
  const held = await holdBelow({ place: dirname(folder) }, basename(folder));
  try {
    // A file of this name that came with the artifact marks it as well, and is its own; a link would lead elsewhere.
    const own = await lstat(join(held.place, MARK)).catch(() => undefined);
    if (own?.isFile()) return;
    await removeBelow(held, MARK);
    const text = 'Put here by an install, which replaces this folder when it runs again.\n';
    await writeFile(join(held.place, MARK), text, { flag: 'wx' });
  } finally {
    await held.close();
  }
}

/** What a person made stays: a manifest must not be able to name it and have it removed. @throws InstallError */
export async function assertReplaceable(path: string, { targetDir, knownPlaces }: Omit<Place, 'scratchDir'>) {
  const place = await pathInside(targetDir, path);
  const owner = knownPlaces.ofOthers.find((each) => overlap(each.path, path));
  if (owner)
    throw new InstallError(
      `'${path}' is where ${owner.id} has '${owner.path}', as the lockfile says; choose another dest, or another target.`,
    );
  const found = await lstat(place).catch(() => undefined);
  if (!found) return;
  if (!found.isDirectory())
    throw new InstallError(`'${path}' is a file; remove it, or choose another dest or another target.`);
  if (knownPlaces.ours.includes(path)) return;
  const names = await readdir(place);
  if (names.length === 0 || names.includes(MARK)) return;
  throw new InstallError(
    `'${path}' holds files that no install put there; move them away, or choose another dest or another target.`,
  );
}
