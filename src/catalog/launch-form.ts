// How a server is reached or started, in the form that clients, glue code and launchers are rendered from.
import type { GappedText } from '../lib/secret-address.ts';

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
  /** Of the package or image, without a version. */
  name: string;
  /** The program of the package, where it is not the one that is named like the package. */
  program?: string;
  /** What the program itself gets, without what `npx`, `uvx` or `docker run` read. */
  args: GappedText[];
}

/** What an install put in the place of a package. */
export type InstalledPackage = { kind: 'program'; path: string } | { kind: 'image'; reference: string };
