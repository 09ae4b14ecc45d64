// The types that describe how to connect to or start a server. Client configurations, glue code and launchers are rendered from them.
import type { GappedText } from '../../lib/secrets/secret-address.ts';

/** Something that differs from one user to the next, or must not be written down: without a value it comes from the environment. */
export interface Variable {
  name: string;
  /** The environment variable that a missing value is taken from. */
  from: string;
  value: string | undefined;
  isRequired: boolean;
  description?: string;
}

export type Launch =
  | { kind: 'remote'; transport: 'http' | 'sse'; url: GappedText; headers: Variable[] }
  | {
      kind: 'command';
      command: string;
      args: GappedText[];
      env: Variable[];
      /** When the command fetches and runs a package. */
      package?: LaunchedPackage;
      /** The command is a path below the target, such as `.hub/bin/x`. */
      isInTarget?: boolean;
    }
  /** The reason is a sentence. */
  | { kind: 'none'; reason: string };

export interface LaunchedPackage {
  kind: 'npm' | 'pypi' | 'oci';
  /** The name of the package or image, without a version. */
  name: string;
  /** The program of the package, where it is not the one that is named like the package. */
  program?: string;
  /** What the program itself gets, without what `npx`, `uvx` or `docker run` read. */
  args: GappedText[];
}

/** What an install put in the place of a package: the path is that of what starts it. */
export type InstalledPackage = { kind: 'program'; path: string } | { kind: 'image'; path: string; reference: string };

export interface Named {
  name: string;
  slug: string;
}

const LONGEST_VARIABLE = 120;
const LONGEST_ENTRY = 80;

/** `io.github.owner/thing` is called `thing`. */
export function shortName({ name, slug }: Named): string {
  return name.split('/').findLast((part) => /[A-Za-z0-9]/.test(part)) ?? slug;
}

/** The name of the server in the configuration of a client. */
export function entryName(named: Named): string {
  const plain = shortName(named)
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9_-]+/g, '-');
  return plain.slice(0, LONGEST_ENTRY).replace(/^[-_]+|[-_]+$/g, '') || 'server';
}

/**
 * The environment variable for a header, an argument or a part of an address. Not the bare name: a manifest that calls a
 * header `AWS-Secret-Access-Key` must not be sent what its user has under that name. With the full name of the server, because
 * `com.acme/files` and `org.other/files` must not be sent the same secret.
 */
export function variableFor(name: string, server: Named): string {
  const full = /[A-Za-z0-9]/.test(server.name) ? server.name : server.slug;
  const plain = (part: string) => part.replace(/[^A-Za-z0-9]+/g, '_');
  // `acme/corp-files` is another server than `acme-corp/files`.
  return [plain(name), 'for', full.split('/').map(plain).join('__')]
    .join('_')
    .toUpperCase()
    .replace(/^_+|_+$/g, '')
    .replace(/^(?=\d)/, '_')
    .slice(0, LONGEST_VARIABLE);
}
