// Requirement lines with digests: what pip and uv both install exactly as written.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { InstallError } from '../../errors.ts';
import type { Pins } from '../artifact.ts';
import { normalName } from './python-spec.ts';

export type PythonPins = Extract<Pins, { tool: 'uv' | 'pip' }>;

const PythonPinsShape = z.object({
  tool: z.enum(['uv', 'pip']),
  requirements: z.array(z.string()),
  python: z.string().regex(/^3\.\d+$/),
  platform: z.string(),
});

/** Name, version, marker and digests. Nothing else is accepted: lines may come from a lockfile that somebody else wrote. */
const LINE = new RegExp(
  [
    /^(?<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?<version>[A-Za-z0-9][A-Za-z0-9.!+_-]*)/,
    /(?<marker> ; (?:(?!--)[A-Za-z0-9_.'"<>=!~()\s,+-]){1,2000}?)?/,
    /(?<hashes>(?: --hash=sha256:[0-9a-f]{64})+)$/,
  ]
    .map(({ source }) => source)
    .join(''),
);

export interface Requirement {
  name: string;
  version: string;
  hasMarker: boolean;
  hashes: string[];
}

/** Pins come from a file. @throws InstallError when they are not what this module writes. */
export function readPins(name: string, pins: unknown): PythonPins {
  const read = PythonPinsShape.safeParse(pins);
  if (!read.success) throw new InstallError(`The locked packages of '${name}' cannot be read: lock it again.`);
  read.data.requirements.forEach(readLine);
  return read.data;
}

/** @throws InstallError */
function readLine(line: string): Requirement {
  const { name, version, marker, hashes = '' } = LINE.exec(line)?.groups ?? {};
  if (name === undefined || version === undefined)
    throw new InstallError(`'${line.slice(0, 200)}' cannot be locked: it is not a version with sha256 digests.`);
  const digests = hashes.split(' --hash=').slice(1).sort();
  return { name: normalName(name), version, hasMarker: marker !== undefined, hashes: digests };
}

export function findRequirement(name: string, lines: readonly string[]): Requirement | undefined {
  return lines.map(readLine).find((each) => each.name === name);
}

/** The digest of its one file; of a package with several files, the digest of their sorted digests, one per line. */
export function integrityOf({ hashes }: Requirement): string {
  const [first, ...others] = hashes;
  if (first !== undefined && others.length === 0) return first;
  return `sha256:${createHash('sha256').update(hashes.join('\n')).digest('hex')}`;
}

/** Reads what `uv pip compile --generate-hashes` writes: long lines end with a backslash. */
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

/** Reads what `pip install --report` writes. @throws InstallError when a package is given by an address. */
export function readReport(text: string): string[] {
  const packages = Report.parse(JSON.parse(text)).install.map(({ metadata, is_direct, download_info }) => {
    const name = normalName(metadata.name);
    if (is_direct)
      throw new InstallError(`${name} is required by its address and not by its name, which is not installed.`);
    return `${name}==${metadata.version} --hash=sha256:${download_info.archive_info?.hashes?.sha256}`;
  });
  return packages.sort();
}
