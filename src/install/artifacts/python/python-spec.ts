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
  .transform((spec, context) => {
    const read = readRequirement(spec);
    if (typeof read !== 'string') return { ...read, indexUrl: spec.index_url ?? undefined };
    context.addIssue({ code: 'custom', message: read });
    return z.NEVER;
  });
export type PypiSpec = z.infer<typeof PypiSpec>;

interface Requirement {
  /** Normalized, as in PEP 503. */
  name: string;
  /** As in a requirements file. */
  requirement: string;
}

interface SpecFields {
  package: string;
  version?: string | null;
  extras?: string[] | null;
  markers?: string | null;
}

/** A text says what is wrong with the spec. */
function readRequirement({ package: text, version, extras, markers }: SpecFields): Requirement | string {
  const [, name, ownExtras, ownVersions, ownMarker] = REQUIREMENT.exec(text.trim()) ?? [];
  if (name === undefined)
    return 'has a package that is not the name of a Python package, such as `thing` or `thing[extra]`';
  const versions = readVersions(version ?? '');
  if (versions === undefined) return 'has a version that is neither a version nor a range such as `>=1.2,<2`';
  if (ownVersions && versions) return 'names a version twice: in package and in version';
  const marker = (ownMarker ?? markers ?? '').trim();
  if (marker !== '' && (!MARKER.test(marker) || marker.includes('--'))) return 'has a marker that cannot be read';
  const chosen = ownVersions ?? versions;
  const allExtras = [...(ownExtras?.slice(1, -1).split(',') ?? []), ...(extras ?? [])]
    .map((each) => each.trim())
    .filter(Boolean);
  const bracket = allExtras.length > 0 ? `[${[...new Set(allExtras)].join(',')}]` : '';
  return {
    name: normalName(name),
    requirement: `${name}${bracket}${chosen}${marker ? ` ; ${marker}` : ''}`,
  };
}

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
