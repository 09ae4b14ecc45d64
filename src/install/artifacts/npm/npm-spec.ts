// Which npm packages a manifest may name.
import semver from 'semver';
import { z } from 'zod';
import { RegistryAddress } from '../package-registry.ts';

const LONGEST_NAME = 214;
const LONGEST_RANGE = 500;
const NAME = /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/i;
const TAG = /^[a-z][a-z0-9._-]*$/i;
/** npm takes names with these endings for local files. */
const FILE_ENDING = /\.(tgz|tar|tar\.gz)$/i;

const PUBLIC_REGISTRY = 'registry.npmjs.org';

export const NpmSpec = z.object({
  registry: z.literal('npm'),
  package: z.string().superRefine((name, context) => {
    if (!isName(name))
      context.addIssue({
        code: 'custom',
        message: 'must be the name of an npm package, such as `thing` or `@scope/thing`',
      });
  }),
  version: z
    .string()
    .max(LONGEST_RANGE, { error: `must not be longer than ${LONGEST_RANGE} characters` })
    .nullish()
    .transform((text, context) => {
      const version = readVersion(text ?? '');
      if (version !== undefined) return version;
      context.addIssue({ code: 'custom', message: 'must be a version, a range of versions or a tag' });
      return z.NEVER;
    }),
  registry_url: RegistryAddress.refine((url) => !hasPassword(url), {
    error: 'must not contain a user name or a password: npm does not read them from an address',
  })
    .nullish()
    // The machine may be set up for a mirror of the public registry, and npm treats the two as the same.
    .transform((url) => (url && new URL(url).host !== PUBLIC_REGISTRY ? new URL(url).href : undefined)),
});
export type NpmSpec = z.infer<typeof NpmSpec>;

function hasPassword(url: string): boolean {
  const { username, password } = URL.parse(url) ?? { username: '', password: '' };
  return username !== '' || password !== '';
}

function isName(name: string): boolean {
  const isReserved = ['node_modules', 'favicon.ico'].includes(name.toLowerCase());
  return (
    name.length <= LONGEST_NAME && NAME.test(name) && !name.includes('..') && !isReserved && !FILE_ENDING.test(name)
  );
}

/** The version as npm reads it; undefined for anything else, such as an address, a file or an option. */
function readVersion(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return 'latest';
  const exact = semver.valid(trimmed);
  if (exact) return exact + buildOf(trimmed);
  if (semver.validRange(trimmed) !== null && /^[\dvxX*^~<>=|.\s+A-Za-z-]+$/.test(trimmed) && !trimmed.startsWith('-'))
    return trimmed;
  return TAG.test(trimmed) && !FILE_ENDING.test(trimmed) && trimmed.length < 100 ? trimmed : undefined;
}

function buildOf(version: string): string {
  const plus = version.indexOf('+');
  return plus < 0 ? '' : version.slice(plus);
}
