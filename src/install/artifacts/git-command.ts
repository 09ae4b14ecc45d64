// git as the hub runs it: without prompts, hooks, credentials or settings of the machine.
import { RunError } from '../../lib/run.ts';
import type { RunResult } from '../../lib/world.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';
import { gitCause, withoutPlaces } from './git-causes.ts';
import { demandRoom, outputEnd } from './program.ts';

const GIT_TIMEOUT_MS = 10 * 60_000;

/** Given on the command line, where nothing in a repository can undo them. */
const SETTINGS = [
  'credential.helper=',
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
  // Where it leads was found out before, by requests that check every address.
  'http.followRedirects=false',
  'http.lowSpeedLimit=100',
  'http.lowSpeedTime=60',
].flatMap((setting) => ['-c', setting]);

export interface Git {
  /** Any exit code is a result. @throws InstallError when there is no room on the disk. */
  try(...args: string[]): Promise<RunResult>;
  /** `what` failed, with the cause by what git wrote. */
  failure(what: string, stderr: string): InstallError;
  /** @throws InstallError when git fails. */
  do(...args: string[]): Promise<string>;
  /** All that git writes. @throws RunError when it is more than that. */
  list(mostBytes: number, ...args: string[]): Promise<string>;
}

type GitContext = Pick<InstallContext, 'run' | 'workDir' | 'signal' | 'allowPrivateNetwork'>;

/** `settings` are added to those that hold always. */
export function gitIn(folder: string, context: GitContext, settings: readonly string[] = []): Git {
  const { run, workDir, signal, allowPrivateNetwork } = context;
  const given = settings.flatMap((setting) => ['-c', setting]);

  async function start(args: readonly string[], mostOutputBytes?: number): Promise<RunResult> {
    try {
      const result = await run({
        program: 'git',
        args: [...SETTINGS, ...given, ...args],
        cwd: folder,
        env: {
          HOME: workDir,
          XDG_CONFIG_HOME: workDir,
          GIT_CEILING_DIRECTORIES: workDir,
          GIT_TERMINAL_PROMPT: '0',
          GIT_ASKPASS: '',
          SSH_ASKPASS: '',
          GCM_INTERACTIVE: 'never',
          GIT_CONFIG_NOSYSTEM: '1',
          GIT_CONFIG_GLOBAL: '/dev/null',
          GIT_ATTR_NOSYSTEM: '1',
          GIT_ALLOW_PROTOCOL: allowPrivateNetwork ? 'https:http:file' : 'https:http',
          GIT_NO_REPLACE_OBJECTS: '1',
          LC_ALL: 'C',
        },
        timeoutMs: GIT_TIMEOUT_MS,
        mostOutputBytes,
        signal,
      });
      demandRoom(result);
      return result;
    } catch (error) {
      if (error instanceof RunError && error.reason === 'missing')
        throw new InstallError('git is not installed on the machine of the hub: install git and try again.', {
          cause: error,
        });
      throw error;
    }
  }

  async function demand(args: readonly string[], mostOutputBytes?: number): Promise<string> {
    const { exitCode, stdout, stderr } = await start(args, mostOutputBytes);
    if (exitCode === 0) return stdout;
    throw failure(`git ${args[0]} failed`, stderr);
  }

  function failure(what: string, stderr: string): InstallError {
    const places = [folder, workDir];
    const output = outputEnd(withoutPlaces(stderr, places));
    return new InstallError(`${what}: ${gitCause(stderr, places)}.`, { extra: { output } });
  }

  return {
    failure,
    try: (...args) => start(args),
    do: async (...args) => (await demand(args)).trim(),
    list: (mostBytes, ...args) => demand(args, mostBytes),
  };
}

/** Holds git to the addresses that were checked, whatever the name server says next. */
export function heldTo(url: URL, addresses: readonly string[]): string[] {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const list = addresses.map((address) => (address.includes(':') ? `[${address}]` : address)).join(',');
  return list === '' ? [] : [`http.curloptResolve=${url.hostname}:${port}:${list}`];
}
