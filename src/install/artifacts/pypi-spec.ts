// Which packages of Python a manifest may name, and what is asked of the installer for them.
import { z } from 'zod';
import { WebAddress } from './archive-install.ts';

const NAME = '[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?';
const VERSION = '[A-Za-z0-9](?:[A-Za-z0-9.!+_*-]*[A-Za-z0-9*])?';
const SPECIFIER = `(?:===|==|~=|!=|<=|>=|<|>)\\s*${VERSION}`;
const SPECIFIERS = `${SPECIFIER}(?:\\s*,\\s*${SPECIFIER})*`;
/** Name, extras, versions, marker: PEP 508 without addresses. */
const REQUIREMENT = new RegExp(
  `^(${NAME})\\s*(\\[\\s*(?:${NAME}\\s*(?:,\\s*${NAME}\\s*)*)?\\])?\\s*(${SPECIFIERS})?\\s*(?:;(.*))?$`,
);
const MARKER = /^[A-Za-z0-9_.'"<>=!~()\s,+-]{1,300}$/;
const LONGEST = 500;

export const PypiSpec = z
  .object({
    package: z.string().max(LONGEST, { error: 'is too long' }),
    version: z.string().max(LONGEST, { error: 'is too long' }).nullish(),
    extras: z.array(z.string().regex(new RegExp(`^${NAME}$`), { error: 'must be a name' })).nullish(),
    markers: z.string().nullish(),
    index_url: WebAddress.nullish(),
  })
  .transform((spec, context) => {
    const read = readRequirement(spec);
    if (typeof read !== 'string') return { ...read, indexUrl: spec.index_url ?? undefined };
    context.addIssue({ code: 'custom', message: read });
    return z.NEVER;
  });
export type PypiSpec = z.infer<typeof PypiSpec>;

export interface Requirement {
  /** In the form in which two spellings of a name are the same. */
  name: string;
  /** The one version that is meant, when it is one. */
  exactVersion: string | undefined;
  /** As pip reads it. */
  requirement: string;
}

interface Wanted {
  package: string;
  version?: string | null;
  extras?: string[] | null;
  markers?: string | null;
}

/** A text is what is wrong with it. */
function readRequirement({ package: written, version, extras, markers }: Wanted): Requirement | string {
  const [, name, ownExtras, ownVersions, ownMarker] = REQUIREMENT.exec(written.trim()) ?? [];
  if (name === undefined) return 'has a package that is no name of Python, such as `thing` or `thing[extra]`';
  const versions = readVersions(version ?? '');
  if (versions === undefined) return 'has a version that is neither a version nor a range such as `>=1.2,<2`';
  if (ownVersions && versions) return 'names a version twice: in package and in version';
  const marker = (ownMarker ?? markers ?? '').trim();
  if (marker !== '' && !MARKER.test(marker)) return 'has a marker that cannot be read';
  const chosen = ownVersions ?? versions;
  const allExtras = [...(ownExtras?.slice(1, -1).split(',') ?? []), ...(extras ?? [])]
    .map((each) => each.trim())
    .filter(Boolean);
  const bracket = allExtras.length > 0 ? `[${[...new Set(allExtras)].join(',')}]` : '';
  return {
    name: normalName(name),
    exactVersion: /^===?\s*([^*,=]+)$/.exec(chosen)?.[1],
    requirement: `${name}${bracket}${chosen}${marker ? ` ; ${marker}` : ''}`,
  };
}

/** A bare version is that version: glued to the name it would be another package. */
function readVersions(version: string): string | undefined {
  const written = version.trim();
  if (written === '' || written === 'latest' || written === '*') return '';
  if (new RegExp(`^${SPECIFIERS}$`).test(written)) return written;
  return /^v?\d/i.test(written) && new RegExp(`^${VERSION}$`).test(written)
    ? `==${written.replace(/^v/i, '')}`
    : undefined;
}

/** PEP 503. */
export function normalName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-');
}
