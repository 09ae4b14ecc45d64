// What npm's own lockfile says about the packages of an artifact.
import { z } from 'zod';
import { InstallError } from '../../errors.ts';

const LockedPackage = z.looseObject({
  version: z.string().optional(),
  integrity: z.string().optional(),
  /** Absent for packages of the registry: their address depends on the registry of the machine that installs them. */
  resolved: z.union([z.string(), z.boolean()]).optional(),
  link: z.boolean().optional(),
  inBundle: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
  bin: z.record(z.string(), z.string()).optional(),
});
type LockedPackage = z.infer<typeof LockedPackage>;

const LockedPackages = z.record(z.string(), LockedPackage);
export type LockedPackages = z.infer<typeof LockedPackages>;

/** Without the project itself, which is only a container. */
export function readPackageLock(text: string): unknown {
  const { '': _project, ...packages } = JSON.parse(text).packages;
  return packages;
}

/** The files from which `npm ci` installs. */
export function projectFiles(name: string, version: string, packages: LockedPackages): Record<string, string> {
  const dependencies = { [name]: version };
  const lock = { lockfileVersion: 3, requires: true, packages: { '': { dependencies }, ...packages } };
  return { 'package.json': toText({ private: true, dependencies }), 'package-lock.json': toText(lock) };
}

function toText(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/**
 * Checks what `npm ci` does not: that packages stay in node_modules, have a digest, and on a shared hub come from the
 * registry. Pins may come from a lockfile that somebody else wrote. @throws InstallError
 */
export function checkPackages(name: string, pinned: unknown, { isOwnMachine }: { isOwnMachine: boolean }) {
  const read = LockedPackages.safeParse(pinned);
  if (!read.success) throw new InstallError(`The locked packages of '${name}' cannot be read: lock it again.`);
  for (const [path, locked] of Object.entries(read.data)) {
    if (!PATH.test(path) || path.includes('/../'))
      throw new InstallError(`The lockfile has a package at '${path.slice(0, 200)}', outside of node_modules.`);
    if (!isOwnMachine && !isFromRegistry(locked)) throw new InstallError(notFromRegistry(name));
    if (!hasDigest(locked))
      throw new InstallError(
        `The registry gives no digest for ${nameAt(path)}@${locked.version}, which '${name}' needs.`,
      );
  }
  return read.data;
}

const FOLDER = 'node_modules/(?:@[^@/\\\\]+/)?[^@/\\\\][^/\\\\]*';
const PATH = new RegExp(`^${FOLDER}(?:/${FOLDER})*$`);

function isFromRegistry({ link, resolved }: LockedPackage): boolean {
  return !link && typeof resolved !== 'string';
}

export function notFromRegistry(name: string): string {
  return `'${name}' needs a package from git, from a file or from an address outside of the registry, which is not installed.`;
}

/** A commit identifies a git package, and bundled packages are covered by the digest of the package that holds them. */
function hasDigest({ integrity, inBundle, link, resolved }: LockedPackage): boolean {
  return Boolean(integrity || inBundle || link) || /^git[+:]/.test(String(resolved));
}

export function nameAt(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
