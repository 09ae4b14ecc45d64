// Which npm packages a manifest may name.
import semver from 'semver';
import { z } from 'zod';
import { RegistryAddress } from '../package-registry.ts';

const LONGEST_NAME = 214;
const LONGEST_RANGE = 500;
const NAME = /^(?!(?:node_modules|favicon\.ico)$)(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/i;
const TAG = /^[a-z][a-z0-9._-]{0,99}$/i;
/** npm takes names with these endings for local files. */
const FILE_ENDING = /\.(tgz|tar|tar\.gz)$/i;

const PUBLIC_REGISTRY = 'registry.npmjs.org';

export const NpmSpec = z.object({
  registry: z.literal('npm'),
  package: z.string().refine((name) => name.length <= LONGEST_NAME && NAME.test(name) && !FILE_ENDING.test(name), {
    error: 'must be the name of an npm package, such as `thing` or `@scope/thing`',
  }),
  version: z
    .string()
    .max(LONGEST_RANGE, { error: `must not be longer than ${LONGEST_RANGE} characters` })
    .nullish()
    // `v1.2.3` is the version 1.2.3.
    .transform((text) => text?.trim().replace(/^v(?=\d)/, '') || 'latest')
    .refine(isVersion, { error: 'must be a version, a range of versions or a tag' }),
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

/** Anything else, such as an address, a file or an option, is not a version. */
function isVersion(text: string): boolean {
  return semver.validRange(text) !== null || (TAG.test(text) && !FILE_ENDING.test(text));
}
