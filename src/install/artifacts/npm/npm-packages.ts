// Which npm packages a manifest may name, and what package-lock.json must contain for them.
import semver from 'semver';
import { z } from 'zod';
import { InstallError } from '../../errors.ts';
import { WebAddress } from '../address.ts';

const LockedPackage = z.looseObject({
  version: z.string().optional(),
  integrity: z.string().optional(),
  /** Absent for registry packages: their address depends on the registry of the installing machine. */
  resolved: z.union([z.string(), z.boolean()]).optional(),
  inBundle: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
  bin: z.record(z.string(), z.string()).optional(),
});
const LockedPackages = z.record(z.string(), LockedPackage);
export type LockedPackages = z.infer<typeof LockedPackages>;

/** Omits the root project, which is only a container. */
export function readPackageLock(text: string): unknown {
  const { '': _project, ...packages } = JSON.parse(text).packages;
  return packages;
}

export function projectFiles(name: string, version: string, packages: LockedPackages): Record<string, string> {
  const dependencies = { [name]: version };
  const lock = { lockfileVersion: 3, requires: true, packages: { '': { dependencies }, ...packages } };
  const toText = (document: object) => `${JSON.stringify(document, null, 2)}\n`;
  return { 'package.json': toText({ private: true, dependencies }), 'package-lock.json': toText(lock) };
}

/** Checks what `npm ci` does not, because pins may come from an untrusted lockfile. @throws InstallError */
export function checkPackages(name: string, pinned: unknown): LockedPackages {
  const read = LockedPackages.safeParse(pinned);
  if (!read.success) throw new InstallError(`The locked packages of '${name}' cannot be read: lock it again.`);
  for (const [path, locked] of Object.entries(read.data)) {
    if (!PATH.test(path) || path.includes('/../'))
      throw new InstallError(`The lockfile has a package at '${path.slice(0, 200)}', outside of node_modules.`);
    if (typeof locked.resolved === 'string') throw new InstallError(notFromRegistry(name));
    // The digest of the containing package covers its bundled packages.
    const what = `${nameAt(path)}@${locked.version}, which '${name}' needs`;
    if (!locked.integrity && !locked.inBundle) throw new InstallError(`The registry has no digest for ${what}.`);
  }
  return read.data;
}

const FOLDER = 'node_modules/(?:@[^@/\\\\]+/)?[^@/\\\\][^/\\\\]*';
const PATH = new RegExp(`^${FOLDER}(?:/${FOLDER})*$`);

export function notFromRegistry(name: string): string {
  return `'${name}' needs a package from git, a file or an address outside the registry. Such packages are not installed.`;
}

export function nameAt(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

const LONGEST_NAME = 214;
const LONGEST_RANGE = 500;
const NAME = /^(?!(?:node_modules|favicon\.ico)$)(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/i;
const TAG = /^[a-z][a-z0-9._-]{0,99}$/i;
/** npm treats names with these endings as local files. */
const FILE_ENDING = /\.(tgz|tar|tar\.gz)$/i;

const PUBLIC_REGISTRY = 'registry.npmjs.org';

export const NpmSpec = z.object({
  package: z.string().refine((name) => name.length <= LONGEST_NAME && NAME.test(name) && !FILE_ENDING.test(name), {
    error: 'must be the name of an npm package, such as `thing` or `@scope/thing`',
  }),
  version: z
    .string()
    .max(LONGEST_RANGE, { error: `must not be longer than ${LONGEST_RANGE} characters` })
    .nullish()
    // `v1.2.3` means version 1.2.3.
    .transform((text) => text?.trim().replace(/^v(?=\d)/, '') || 'latest')
    .refine(isVersion, { error: 'must be a version, a range of versions or a tag' }),
  registry_url: WebAddress.refine((url) => !/^\w+:\/\/[^/?#]*@/.test(new URL(url).href), {
    error: 'must not contain a user name or a password: npm does not read them from an address',
  })
    .nullish()
    // The machine may use a mirror of the public registry, which npm treats as the same.
    .transform((url) => (url && new URL(url).host !== PUBLIC_REGISTRY ? new URL(url).href : undefined)),
});
export type NpmSpec = z.infer<typeof NpmSpec>;

/** Rejects anything else, such as an address, a file or an option. */
function isVersion(text: string): boolean {
  return semver.validRange(text) !== null || (TAG.test(text) && !FILE_ENDING.test(text));
}
