// Types that describe how to connect to or start a server; client configurations, glue code and launchers are rendered from them.
import { fillGaps, type GappedText, shownAddress } from '../../lib/secrets/secret-address.ts';

/** A value that differs between users or must not be stored: if missing, it is read from the environment. */
export interface Variable {
  name: string;
  /** The environment variable that provides a missing value. */
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
      /** Present when the command fetches and runs a package. */
      package?: LaunchedPackage;
      /** The command is a path in the target, such as `.hub/bin/x`. */
      isInTarget?: boolean;
    }
  /** The reason is a sentence. */
  | { kind: 'none'; reason: string };

/** What it reads from its environment or sends as headers. */
export function variablesOf(launch: Launch): Variable[] {
  if (launch.kind === 'none') return [];
  return launch.kind === 'remote' ? launch.headers : launch.env;
}

/** The address or the command, with `{name}` for missing values; null if there is none. */
export function launchText(launch: Launch): string | null {
  const filled = (text: GappedText) => fillGaps(text, ({ name }) => `{${name}}`);
  if (launch.kind === 'none') return null;
  if (launch.kind === 'remote') return shownAddress(filled(launch.url));
  return [launch.command, ...launch.args.map(filled)].join(' ');
}

export interface LaunchedPackage {
  kind: 'npm' | 'pypi' | 'oci';
  /** The name of the package or image, without a version. */
  name: string;
  /** The program of the package, if it is not named like the package. */
  program?: string;
  /** Further packages that the command installs, as written; absent if there are none. */
  extra?: string[];
  /** The arguments of the program, without the options of `npx`, `uvx` or `docker run`. */
  args: GappedText[];
}

export interface Named {
  name: string;
  slug: string;
}

const LONGEST_VARIABLE = 120;
const LONGEST_ENTRY = 80;

/** The short name of `io.github.owner/thing` is `thing`. */
export function shortName({ name, slug }: Named): string {
  return name.split('/').findLast((part) => /[A-Za-z0-9]/.test(part)) ?? slug;
}

/** The server's name in a client configuration. */
export function entryName(named: Named): string {
  const plain = shortName(named)
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9_-]+/g, '-');
  return plain.slice(0, LONGEST_ENTRY).replace(/^[-_]+|[-_]+$/g, '') || 'server';
}

/**
 * The environment variable for a header, an argument or a part of an address. Not the bare name: a manifest with a header
 * `AWS-Secret-Access-Key` must not receive the user's variable of that name. It contains the server's full name, so that
 * `com.acme/files` and `org.other/files` never receive the same secret.
 */
export function variableFor(name: string, server: Named): string {
  const full = /[A-Za-z0-9]/.test(server.name) ? server.name : server.slug;
  const plain = (part: string) => part.replace(/[^A-Za-z0-9]+/g, '_');
  // `acme/corp-files` and `acme-corp/files` are different servers.
  return [plain(name), 'for', full.split('/').map(plain).join('__')]
    .join('_')
    .toUpperCase()
    .replace(/^_+|_+$/g, '')
    .replace(/^(?=\d)/, '_')
    .slice(0, LONGEST_VARIABLE);
}
