// Runs git without prompts and hooks, and with the machine's configuration only where it is trusted.
import { dirname, join } from 'node:path';
import type { ArtifactContext } from '../artifact.ts';
import { type Causes, findCause, lastLine, NEEDS_LOGIN, REFUSED_BY_PROXY, runToEnd, UNREACHABLE } from '../program.ts';

const MOST_OUTPUT_BYTES = 50_000_000;
/** The unit of `ulimit -f` (POSIX). */
const BLOCK_BYTES = 512;

/** Passed on the command line, where a repository cannot override them. */
const SETTINGS = [
  ...['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'core.protectHFS=true', 'core.protectNTFS=true'],
  ...['core.autocrlf=false', 'submodule.recurse=false', 'maintenance.auto=false'],
  // Later installs recognize the work of a person by its branches and by the log of `HEAD`.
  ...['init.defaultRefFormat=files', 'core.logAllRefUpdates=true'],
  // Fetched objects go into one file, whose size can be limited.
  ...['fetch.unpackLimit=1', 'http.lowSpeedLimit=100', 'http.lowSpeedTime=60'],
];

export interface GitAccess {
  /** Whether git uses the configuration and credentials of the current user. */
  usesConfiguration: boolean;
  /** Whether git may connect only to addresses that the hub may use, including redirects. */
  isGuarded: boolean;
  /** Largest file that git may write, because git cannot limit how much it receives. */
  mostFileBytes?: number;
}

export const NO_GIT = 'git is not installed on this machine: install git and try again.';

export const publicAccess: GitAccess = { usesConfiguration: false, isGuarded: false };

/** Returns git's output; `what` begins the error message. @throws InstallError */
export type Git = (args: readonly string[], what?: string) => Promise<string>;

type GitContext = Pick<ArtifactContext, 'run' | 'signal' | 'stagingDir' | 'allowPrivateNetwork'>;

export function gitIn(folder: string, context: GitContext, access: GitAccess = publicAccess): Git {
  const common = {
    cwd: folder,
    env: { ...environmentOf(access, context), GIT_CEILING_DIRECTORIES: dirname(folder) },
    inherit: access.usesConfiguration ? ['SSH_AUTH_SOCK', 'XDG_CONFIG_HOME', 'GIT_CONFIG_GLOBAL'] : [],
    isGuarded: access.isGuarded,
    mostOutputBytes: MOST_OUTPUT_BYTES,
    whenMissing: NO_GIT,
  };
  return async (args, what = `git ${args[0]} failed`) => {
    const why = (output: string) => `${what}: ${causeOf(output)}.`;
    const words = [...SETTINGS.flatMap((setting) => ['-c', setting]), ...args];
    const blocks = access.mostFileBytes && Math.ceil(access.mostFileBytes / BLOCK_BYTES);
    // With the signal ignored, git reports an oversized file instead of dying silently.
    const limited = ['-c', `trap '' XFSZ; ulimit -f ${blocks} && exec git "$@"`, 'git', ...words];
    const start = blocks ? { program: 'sh', args: limited } : { program: 'git', args: words };
    return runToEnd({ ...common, ...start, why }, context);
  };
}

function environmentOf({ usesConfiguration }: GitAccess, context: GitContext): Record<string, string> {
  const protocols = ['https', 'http', ...(usesConfiguration ? ['ssh'] : [])];
  const silent = {
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    GCM_INTERACTIVE: 'never',
    GIT_ALLOW_PROTOCOL: [...protocols, ...(context.allowPrivateNetwork ? ['file'] : [])].join(':'),
    LC_ALL: 'C',
  };
  if (usesConfiguration) return silent;
  const nowhere = join(context.stagingDir, 'no-home');
  const closed = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_ATTR_NOSYSTEM: '1' };
  return { ...silent, ...closed, HOME: nowhere, XDG_CONFIG_HOME: nowhere };
}

const CAUSES: Causes = [
  [REFUSED_BY_PROXY, 'it leads to an address that the hub may not connect to'],
  [/file too large/i, 'it is larger than an install accepts: publish what is needed as an archive'],
  [/host key verification failed/i, 'its host is not in known_hosts: connect to it once with ssh'],
  [
    /authentication failed|could not read (?:username|password)|terminal prompts disabled|error: 40[13]|permission denied \(publickey/i,
    NEEDS_LOGIN,
  ],
  [/repository .*not found|error: 404|does not appear to be a git repository/i, 'no repository is at this address'],
  [/certificate/i, 'the certificate of its host is not valid for it'],
  [UNREACHABLE, 'its host could not be reached, is too slow, or ended the connection; try again later'],
];

function causeOf(output: string): string {
  const reasons = output.split('\n').filter((line) => /^(fatal|error): /.test(line));
  return findCause(output, CAUSES) ?? lastLine(reasons.at(-1) ?? output);
}
