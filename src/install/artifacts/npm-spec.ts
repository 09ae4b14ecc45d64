// Which packages of npm a manifest may name.
import semver from 'semver';
import { z } from 'zod';
import { WebAddress } from './archive-install.ts';

const LONGEST_NAME = 214;
const LONGEST_RANGE = 500;
const NAME = /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/i;
/** Old packages begin with these, and nothing else may. */
const TAG = /^[a-z][a-z0-9._-]*$/i;
/** npm reads these as files. */
const FILE_ENDING = /\.(tgz|tar|tar\.gz)$/i;

const PUBLIC_REGISTRY = 'registry.npmjs.org';

export const NpmSpec = z.object({
  registry: z.literal('npm'),
  package: z.string().superRefine((name, context) => {
    if (!isName(name))
      context.addIssue({ code: 'custom', message: 'must be a name of npm, such as `thing` or `@scope/thing`' });
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
  registry_url: WebAddress.refine((url) => !hasPassword(url), {
    error: 'must not hold a name or a password, which npm does not take from an address',
  })
    .nullish()
    // A machine may be set up for a mirror of the public registry: npm itself takes that address for the same.
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

/** As npm is told it; undefined when it is something else, an address or a file above all. */
function readVersion(text: string): string | undefined {
  const written = text.trim();
  if (written === '') return 'latest';
  const exact = semver.valid(written);
  if (exact) return exact + buildOf(written);
  if (semver.validRange(written) !== null && /^[\dvxX*^~<>=|.\s+A-Za-z-]+$/.test(written) && !written.startsWith('-'))
    return written;
  return TAG.test(written) && !FILE_ENDING.test(written) && written.length < 100 ? written : undefined;
}

function buildOf(version: string): string {
  const plus = version.indexOf('+');
  return plus < 0 ? '' : version.slice(plus);
}
