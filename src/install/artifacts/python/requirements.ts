// Which Python packages a manifest may name, and the format of pinned requirement lines, which pip and uv both install exactly.
import { z } from 'zod';
import { PythonPins } from '../../contract.ts';
import { InstallError } from '../../errors.ts';
import { textDigest } from '../../target/tree.ts';
import { WebAddress } from '../address.ts';

export type Pins = z.infer<typeof PythonPins>;

/** Name, version, marker and digests. Nothing else is accepted, because the lines may come from an untrusted lockfile. */
const LINE = new RegExp(
  [
    /^(?<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?<version>[A-Za-z0-9][A-Za-z0-9.!+_-]*)/,
    /(?: ; (?:(?!--)[A-Za-z0-9_.'"<>=!~()\s,+-]){1,2000}?)?/,
    /(?<hashes>(?: --hash=sha256:[0-9a-f]{64})+)$/,
  ]
    .map(({ source }) => source)
    .join(''),
);

export interface Requirement {
  name: string;
  version: string;
  hashes: string[];
}

/** Parses pins of a lockfile. @throws InstallError if this module did not write them. */
export function readPins(name: string, pins: unknown): Pins {
  const read = PythonPins.safeParse(pins);
  if (!read.success) throw new InstallError(`The locked packages of '${name}' cannot be read: lock it again.`);
  read.data.requirements.forEach(readLine);
  return read.data;
}

function readLine(line: string): Requirement {
  const { name, version, hashes = '' } = LINE.exec(line)?.groups ?? {};
  if (name === undefined || version === undefined)
    throw new InstallError(`'${line.slice(0, 200)}' cannot be locked: it is not a version with sha256 digests.`);
  return { name: normalName(name), version, hashes: hashes.split(' --hash=').slice(1).sort() };
}

export function findRequirement(name: string, lines: readonly string[]): Requirement | undefined {
  return lines.map(readLine).find((each) => each.name === name);
}

/** The digest of the only file, or the digest of all sorted digests, one per line. */
export function integrityOf({ hashes }: Requirement): string {
  const [first, ...others] = hashes;
  if (first !== undefined && others.length === 0) return first;
  return textDigest(hashes.join('\n'));
}

/** Parses the output of `uv pip compile --generate-hashes`, in which long lines end with a backslash. */
export function readCompiled(text: string): string[] {
  const lines = text.replaceAll(/\s*\\\r?\n\s*/g, ' ').split(/\r?\n/);
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}

const Report = z.looseObject({
  install: z.array(
    z.looseObject({
      metadata: z.looseObject({ name: z.string(), version: z.string() }),
      is_direct: z.boolean().optional(),
      download_info: z.looseObject({
        archive_info: z.looseObject({ hashes: z.record(z.string(), z.string()).optional() }).optional(),
      }),
    }),
  ),
});

/** Parses the output of `pip install --report`. @throws InstallError if a package is given by address. */
export function readReport(text: string): string[] {
  const packages = Report.parse(JSON.parse(text)).install.map(({ metadata, is_direct, download_info }) => {
    const name = normalName(metadata.name);
    if (is_direct)
      throw new InstallError(`The dependency ${name} is given by address instead of by name, which is not allowed.`);
    return `${name}==${metadata.version} --hash=sha256:${download_info.archive_info?.hashes?.sha256}`;
  });
  return packages.sort();
}

const NAME = '[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?';
const VERSION = '[A-Za-z0-9](?:[A-Za-z0-9.!+_*-]*[A-Za-z0-9*])?';
const SPECIFIER = `(?:===|==|~=|!=|<=|>=|<|>) *${VERSION}`;
const SPECIFIERS = `${SPECIFIER}(?: *, *${SPECIFIER})*`;
/** Name, extras and versions of PEP 508, without addresses and markers. */
const REQUIREMENT = new RegExp(`^(${NAME}) *(\\[ *(?:${NAME} *(?:, *${NAME} *)*)?\\])? *(${SPECIFIERS})?$`);
const LONGEST = 500;

export const PypiSpec = z
  .object({
    package: z.string().max(LONGEST, { error: 'is too long' }),
    version: z.string().max(LONGEST, { error: 'is too long' }).nullish(),
    extras: z.array(z.string().regex(new RegExp(`^${NAME}$`), { error: 'must be a name' })).nullish(),
    markers: z.null({ error: 'is not supported: leave it out, or publish a manifest for each platform' }).optional(),
    index_url: WebAddress.nullish(),
  })
  .transform(({ package: text, version, extras, index_url }, context) => {
    const refuse = (message: string) => {
      context.addIssue(message);
      return z.NEVER;
    };
    const [, name, ownExtras = '', ownVersions = ''] = REQUIREMENT.exec(text.trim()) ?? [];
    if (name === undefined)
      return refuse('has a package that is not the name of a Python package, such as `thing` or `thing[extra]`');
    const versions = readVersions(version ?? '');
    if (versions === undefined) return refuse('has a version that is not a version or a range such as `>=1.2,<2`');
    if (ownVersions && versions) return refuse('names a version twice: in package and in version');
    const allExtras = [...ownExtras.split(/[[\],\s]+/), ...(extras ?? [])].filter(Boolean);
    const bracket = allExtras.length > 0 ? `[${allExtras.join(',')}]` : '';
    return {
      name: normalName(name),
      requirement: `${name}${bracket}${ownVersions || versions}`,
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

/** Two spellings of a name can mean the same package (PEP 503). */
export function normalName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-');
}
