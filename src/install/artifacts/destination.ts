// Chooses the folder of an artifact: the manifest's choice, or names derived from its address.
import { z } from 'zod';
import { invalidRequest } from '../../errors.ts';
import { decoded } from '../../lib/secrets/secret-address.ts';
import { LOCKFILE_NAME } from '../contract.ts';
import { LONGEST_PATH, relativePathFault } from '../target/files.ts';
import { RESERVED, safeName, VENDOR } from '../target/places.ts';

export const Destination = z
  .string()
  .max(LONGEST_PATH, { error: 'is too long' })
  .transform((text, context) => {
    const path = text.trim().replace(/^(\.\/)+|\/+$/g, '');
    const fault = destinationFault(path);
    if (fault === undefined) return path;
    context.addIssue(fault);
    return z.NEVER;
  });

/** The folder that the user chose, now or earlier. @throws HubError `invalid_request` */
export function readDest(dest: string | null | undefined): string | undefined {
  if (dest === undefined || dest === null) return undefined;
  const read = Destination.safeParse(dest);
  if (read.success) return read.data;
  throw invalidRequest('dest', read.error.issues[0]?.message ?? 'is not valid');
}

function destinationFault(path: string): string | undefined {
  if (path === '' || path === '.') return 'must name a folder below the target, not the target itself';
  const fault = relativePathFault(path);
  if (fault) return fault;
  if (path.startsWith('-')) return "must not start with '-'";
  const names = path.toLowerCase().split('/');
  const [first = ''] = names;
  const isReserved = [...RESERVED, LOCKFILE_NAME].includes(first) && (first !== VENDOR || names.length === 1);
  if (isReserved) return `must not be '${first}', which is reserved`;
  if (first.startsWith('.')) return "must not start with '.': clients and other programs run what is in such places";
  return names.includes('.git') ? "must not be inside '.git'" : undefined;
}

const EXTENSION = /\.(zip|tgz|tar\.gz|tar|mcpb|dxt|git)$/i;
/** Parts of addresses that do not identify the project: branches, versions, commits, path segments of hosts. */
const MEANINGLESS =
  /^(main|master|head|trunk|develop|archives?|latest|stable|refs|heads|tags|releases?|downloads?|zip|zipball|tarball|raw|-|v?\d+(\.\d+)*([.+-][\w.+-]+)?|[0-9a-f]{40}|[0-9a-f]{64})$/i;

/** Names for a folder below `vendor/`, best first: the artifact's name, then the name with its owner or host. */
export function vendorNames(address: string): string[] {
  const url = URL.parse(address);
  const parts = (url?.pathname ?? address).split('/').filter(Boolean);
  const names = parts.map((part) => decoded(part).replace(EXTENSION, '')).filter((name) => !MEANINGLESS.test(name));
  const [owner, name] = [names.at(-2) ?? url?.hostname ?? '', names.at(-1) ?? ''].map((each) => safeName(each, ''));
  if (!name) return ['archive'];
  return owner ? [name, safeName(`${owner}-${name}`)] : [name];
}
