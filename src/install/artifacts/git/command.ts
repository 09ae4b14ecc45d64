// git as installs run it: without prompts and hooks, with the configuration of the machine only where it is trusted.
import { dirname, join } from 'node:path';
import type { ArtifactContext } from '../artifact.ts';
import { type Causes, findCause, HELD_BACK, lastLine, runToEnd } from '../program.ts';

const GIT_TIMEOUT_MS = 30 * 60_000;
const MOST_OUTPUT_BYTES = 50_000_000;

/** Given on the command line, where nothing in a repository can undo them. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'core.autocrlf=false',
  'submodule.recurse=false',
  'maintenance.auto=false',
  'http.lowSpeedLimit=100',
  'http.lowSpeedTime=60',
];

export interface GitAccess {
  /** Whether git uses the configuration and the credentials of the user it runs as. */
  usesConfiguration: boolean;
  /** Whether git connects only to addresses that the hub itself may use, redirects included. */
  isGuarded: boolean;
}

export const publicAccess: GitAccess = { usesConfiguration: false, isGuarded: false };

/** Returns what git wrote; `what` begins the sentence of the error. @throws InstallError */
export type Git = (args: readonly string[], what?: string) => Promise<string>;

type GitContext = Pick<ArtifactContext, 'run' | 'signal' | 'stagingDir' | 'allowPrivateNetwork'>;

export function gitIn(folder: string, context: GitContext, access: GitAccess = publicAccess): Git {
  const common = {
    program: 'git',
    cwd: folder,
    env: { ...environmentOf(access, context), GIT_CEILING_DIRECTORIES: dirname(folder) },
    inherit: access.usesConfiguration ? ['SSH_AUTH_SOCK', 'XDG_CONFIG_HOME', 'GIT_CONFIG_GLOBAL'] : [],
    isGuarded: access.isGuarded,
    timeoutMs: GIT_TIMEOUT_MS,
    mostOutputBytes: MOST_OUTPUT_BYTES,
    whenMissing: 'git is not installed on this machine: install git and try again.',
  };
  return async (args, what = `git ${args[0]} failed`) => {
    const why = (output: string) => `${what}: ${causeOf(output)}.`;
    const settings = SETTINGS.flatMap((setting) => ['-c', setting]);
    return runToEnd({ ...common, args: [...settings, ...args], why }, context);
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
  [HELD_BACK, 'it leads to an address that the hub may not connect to'],
  [/could not resolve host/i, 'the name of its host is not known'],
  [/host key verification failed/i, 'its host is not in known_hosts: connect to it once with ssh'],
  [
    /authentication failed|could not read (?:username|password)|terminal prompts disabled|error: 40[13]|permission denied \(publickey/i,
    'it needs a login, and there is none for it on this machine. On a hub, the operator names its host in INSTALL_CREDENTIALS_FOR',
  ],
  [
    /repository .*not found|returned error: 404|does not appear to be a git repository/i,
    'there is no repository at this address',
  ],
  [/certificate/i, 'the certificate of its host is not valid for it'],
  [
    /failed to connect|couldn't connect|connection refused|timed out|too slow|unreachable|early EOF|RPC failed|hung up|unexpected disconnect|fetch-pack: invalid|(error|response):? 50[234]/i,
    'its host could not be reached, is too slow, or ended the connection; try again later',
  ],
];

function causeOf(output: string): string {
  const reasons = output.split('\n').filter((line) => /^(fatal|error): /.test(line));
  return findCause(output, CAUSES) ?? lastLine(reasons.at(-1) ?? output);
}
