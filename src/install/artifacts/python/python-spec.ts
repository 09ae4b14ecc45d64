// Which Python packages a manifest may name.
import { z } from 'zod';
import { RegistryAddress } from '../package-registry.ts';

const NAME = '[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?';
const VERSION = '[A-Za-z0-9](?:[A-Za-z0-9.!+_*-]*[A-Za-z0-9*])?';
const SPECIFIER = `(?:===|==|~=|!=|<=|>=|<|>) *${VERSION}`;
const SPECIFIERS = `${SPECIFIER}(?: *, *${SPECIFIER})*`;
/** Name, extras, versions and marker, as in PEP 508, but without addresses. */
const REQUIREMENT = new RegExp(`^(${NAME}) *(\\[ *(?:${NAME} *(?:, *${NAME} *)*)?\\])? *(${SPECIFIERS})? *(?:;(.*))?$`);
const MARKER = /^[A-Za-z0-9_.'"<>=!~(), +-]{1,300}$/;
const LONGEST = 500;

export const PypiSpec = z
  .object({
    package: z.string().max(LONGEST, { error: 'is too long' }),
    version: z.string().max(LONGEST, { error: 'is too long' }).nullish(),
    extras: z.array(z.string().regex(new RegExp(`^${NAME}$`), { error: 'must be a name' })).nullish(),
    markers: z.string().nullish(),
    index_url: RegistryAddress.nullish(),
  })
  .transform(({ package: text, version, extras, markers, index_url }, context) => {
    const refuse = (message: string) => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    };
    const [, name, ownExtras = '', ownVersions = '', ownMarker] = REQUIREMENT.exec(text.trim()) ?? [];
    if (name === undefined)
      return refuse('has a package that is not the name of a Python package, such as `thing` or `thing[extra]`');
    const versions = readVersions(version ?? '');
    if (versions === undefined) return refuse('has a version that is neither a version nor a range such as `>=1.2,<2`');
    if (ownVersions && versions) return refuse('names a version twice: in package and in version');
    const marker = (ownMarker ?? markers ?? '').trim();
    if (marker !== '' && (!MARKER.test(marker) || marker.includes('--')))
      return refuse('has a marker that cannot be read');
    const allExtras = [...ownExtras.split(/[[\],\s]+/), ...(extras ?? [])].filter(Boolean);
    const bracket = allExtras.length > 0 ? `[${allExtras.join(',')}]` : '';
    return {
      /** Normalized, as in PEP 503. */
      name: normalName(name),
      /** As in a requirements file. */
      requirement: `${name}${bracket}${ownVersions || versions}${marker && ` ; ${marker}`}`,
      indexUrl: index_url ?? undefined,
    };
  });
export type PypiSpec = z.infer<typeof PypiSpec>;

/** A bare version means exactly that version. */
function readVersions(version: string): string | undefined {
  const trimmed = version.trim();
  if (trimmed === '' || trimmed === 'latest' || trimmed === '*') return '';
  if (new RegExp(`^${SPECIFIERS}$`).test(trimmed)) return trimmed;
  return /^v?\d/i.test(trimmed) && new RegExp(`^${VERSION}$`).test(trimmed)
    ? `==${trimmed.replace(/^v/i, '')}`
    : undefined;
}

/** Two spellings of a name are the same package (PEP 503). */
export function normalName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-');
}
