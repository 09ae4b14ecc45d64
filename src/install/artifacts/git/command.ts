// git as installs run it: without prompts and hooks, with other settings and credentials only as far as they are trusted.
import { dirname, join } from 'node:path';
import { RunError } from '../../../lib/run.ts';
import type { RunResult } from '../../../lib/world.ts';
import { InstallError } from '../../errors.ts';
import type { ArtifactContext } from '../artifact.ts';
import { outputEnd, runProgram, withoutFolders } from '../program.ts';
import { gitCause } from './causes.ts';

const GIT_TIMEOUT_MS = 30 * 60_000;

/** Given on the command line, where nothing in a repository can undo them. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.protectNTFS=true',
  'core.protectHFS=true',
  'core.autocrlf=false',
  'protocol.version=2',
  'protocol.ext.allow=never',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'advice.detachedHead=false',
  'http.lowSpeedLimit=100',
  'http.lowSpeedTime=60',
];

/** Which configuration and credentials of the machine git uses. */
export type GitAccess =
  /** None. `settings` hold git to what was checked. */
  | { kind: 'public'; settings: readonly string[] }
  /** The operator's `credential.*` settings and `.netrc`, for a host that the operator named. */
  | { kind: 'operator'; settings: readonly string[]; credentials: readonly (readonly [key: string, value: string])[] }
  /** Everything, as the person's own git would. */
  | { kind: 'person'; settings: readonly string[] };

export const publicAccess: GitAccess = { kind: 'public', settings: [] };

export interface Git {
  /** Any exit code is a result. @throws InstallError when git is missing or cannot go on. */
  try(...args: string[]): Promise<RunResult>;
  /** The error for `what` failed, with its cause from what git wrote. */
  failure(what: string, stderr: string): InstallError;
  /** @throws InstallError when git fails. */
  do(...args: string[]): Promise<string>;
  /** All of the output; undefined when it is longer than that. @throws InstallError when git fails. */
  list(options: ListOptions, ...args: string[]): Promise<string | undefined>;
}

interface ListOptions {
  mostBytes: number;
  /** How the error begins when git fails. */
  failed?: string;
}

type GitContext = Pick<ArtifactContext, 'run' | 'signal' | 'stagingDir' | 'allowPrivateNetwork'>;

export function gitIn(folder: string, context: GitContext, access: GitAccess = publicAccess): Git {
  const { stagingDir } = context;

  function start(args: readonly string[], mostOutputBytes?: number): Promise<RunResult> {
    const settings = [...SETTINGS, ...access.settings].flatMap((setting) => ['-c', setting]);
    return runProgram(
      {
        program: 'git',
        args: [...settings, ...args],
        cwd: folder,
        env: { ...environmentOf(access, context), GIT_CEILING_DIRECTORIES: dirname(folder) },
        inherit: access.kind === 'person' ? PERSONAL : [],
        timeoutMs: GIT_TIMEOUT_MS,
        mostOutputBytes,
        whenMissing: 'git is not installed on this machine: install git and try again.',
      },
      context,
    );
  }

  async function demand(args: readonly string[], { mostBytes, failed }: Partial<ListOptions> = {}): Promise<string> {
    const { exitCode, stdout, stderr } = await start(args, mostBytes);
    if (exitCode === 0) return stdout;
    throw failure(failed ?? `git ${args[0]} failed`, stderr);
  }

  function failure(what: string, stderr: string): InstallError {
    // The longer one first: the folder of a checkout is inside the staging folder.
    const folders = [folder, stagingDir].toSorted((one, other) => other.length - one.length);
    const output = outputEnd(withoutFolders(stderr, folders));
    return new InstallError(`${what}: ${gitCause(stderr, folders)}.`, { extra: { output } });
  }

  return {
    failure,
    try: (...args) => start(args),
    do: async (...args) => (await demand(args)).trim(),
    list: (options, ...args) => demand(args, options).catch(undefinedWhenLong),
  };
}

/** Where the agent, the settings and the keys of a person are. */
const PERSONAL = ['SSH_AUTH_SOCK', 'XDG_CONFIG_HOME', 'GIT_CONFIG_GLOBAL'];

function environmentOf(access: GitAccess, { stagingDir, allowPrivateNetwork }: GitContext): Record<string, string> {
  const protocols = ['https', 'http', ...(access.kind === 'person' ? ['ssh'] : [])];
  const silent = {
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    GCM_INTERACTIVE: 'never',
    GIT_ALLOW_PROTOCOL: [...protocols, ...(allowPrivateNetwork ? ['file'] : [])].join(':'),
    GIT_NO_REPLACE_OBJECTS: '1',
    LC_ALL: 'C',
  };
  if (access.kind === 'person') return silent;
  const closed = { ...silent, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_ATTR_NOSYSTEM: '1' };
  if (access.kind === 'operator') return { ...closed, ...configVariables(access.credentials) };
  const nowhere = join(stagingDir, 'no-home');
  return { ...closed, HOME: nowhere, XDG_CONFIG_HOME: nowhere };
}

function configVariables(entries: readonly (readonly [key: string, value: string])[]): Record<string, string> {
  const variables = entries.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(entries.length), ...Object.fromEntries(variables) };
}

function undefinedWhenLong(error: unknown): undefined {
  const { cause } = error as Error;
  if (cause instanceof RunError && cause.reason === 'output') return undefined;
  throw error;
}
