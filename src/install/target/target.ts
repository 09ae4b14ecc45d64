// Resolves the folder that an install writes into, and decides whether it may be used.
import { constants } from 'node:fs';
import { access, lstat, realpath, statfs } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { HubError, invalidRequest } from '../../errors.ts';
import { explain, InstallError } from '../errors.ts';
import { HUB_FOLDER, VENDOR } from './places.ts';

export interface TargetRule {
  /** If set, every target must be inside it after links are resolved. */
  installRoot: string | undefined;
  /** The base of relative targets if no root is set. */
  workingDir: string;
}

/** The type that Linux `statfs` reports. */
const PROC_FILESYSTEM = 0x9fa0;
const OWN_PACKAGE = dirname(findPackageJSON(import.meta.url) ?? '');

/** Changes nothing. Returns the path with its links resolved. @throws HubError `invalid_request` */
export async function checkTarget(target: string, rule: TargetRule): Promise<string> {
  return (await locate(target, rule)).folder;
}

/** Like `checkTarget`, for a folder that will be written. @throws HubError `invalid_request` */
export async function usableTarget(target: string, rule: TargetRule): Promise<string> {
  const { existing, folder } = await locate(target, rule);
  if (process.platform === 'win32') throw cannotBeUsed('Installs do not work on Windows: use WSL.');
  if (folder === OWN_PACKAGE)
    throw cannotBeUsed("It is the folder of the hub's own program: name the folder of your project.");
  const rejected = (error: unknown) => Promise.reject(unusable(error));
  await access(existing, constants.W_OK | constants.X_OK).catch(rejected);
  // Node's recursive mkdir loops forever there.
  if ((await statfs(existing)).type === PROC_FILESYSTEM)
    throw cannotBeUsed('It belongs to the system: choose another target.');
  await assertOwnFolders(folder).catch(rejected);
  return folder;
}

/** The hub's folders must be real folders that belong to its user. @throws InstallError */
export async function assertOwnFolders(targetDir: string): Promise<void> {
  for (const name of [HUB_FOLDER, VENDOR]) {
    const found = await lstat(join(targetDir, name)).catch(() => undefined);
    if (!found) continue;
    const fault = `'${name}' is a link or a file, but must be a folder: move it away, or choose another target.`;
    if (!found.isDirectory()) throw new InstallError(fault);
    const user = process.geteuid?.();
    if (user !== undefined && user !== 0 && found.uid !== user)
      throw new InstallError(`'${name}' belongs to another user: change its owner, or choose another target.`);
    // A failed install may remove the folder meanwhile.
    const unlessGone = (error: NodeJS.ErrnoException) => error.code === 'ENOENT' || Promise.reject(error);
    await access(join(targetDir, name), constants.W_OK | constants.X_OK).catch(unlessGone);
  }
}

/** Paths with links resolved; `existing` is the part of the folder that exists. */
type Resolved = Record<'folder' | 'existing', string>;

async function locate(target: string, { installRoot, workingDir }: TargetRule): Promise<Resolved> {
  const fault = textFault(target);
  if (fault) throw invalidRequest('target', fault);
  const resolved = await resolveLinks(resolve(installRoot ?? workingDir, target));
  if (installRoot === undefined) return resolved;
  // A missing root is created together with the first target.
  const root = await resolveLinks(resolve(installRoot));
  if (!isBelow(root.folder, resolved.folder))
    throw new HubError('invalid_request', 'Choose a folder inside INSTALL_ROOT; no link may lead out of it.', {
      faults: [{ path: 'target', message: 'must be inside INSTALL_ROOT' }],
    });
  return resolved;
}

/** Walks up to an existing folder. A dangling link is not a free name. */
async function resolveLinks(path: string): Promise<Resolved> {
  try {
    const existing = await realpath(path);
    if ((await lstat(existing)).isDirectory()) return { folder: existing, existing };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw unusable(error);
  }
  if (await lstat(path).catch(() => undefined)) throw invalidRequest('target', 'is a file, but must be a folder');
  const { folder, existing } = await resolveLinks(dirname(path));
  return { folder: join(folder, basename(path)), existing };
}

function textFault(target: string): string | undefined {
  if (target.trim() === '') return 'must not be empty';
  if (target.length > 2048) return 'must not be longer than 2048 characters';
  if (/\p{Cc}/u.test(target) || !target.isWellFormed()) return 'must not contain control characters';
  return undefined;
}

function isBelow(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

export function unusable(error: unknown): HubError {
  return cannotBeUsed(explain(error), error);
}

function cannotBeUsed(why: string, cause?: unknown): HubError {
  return new HubError('invalid_request', `The target cannot be used. ${why}`, {
    faults: [{ path: 'target', message: why }],
    cause,
  });
}
