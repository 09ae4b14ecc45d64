// git as the hub runs it: without prompts, hooks, credentials or settings of the machine.
import { RunError } from '../../lib/run.ts';
import type { RunResult } from '../../lib/world.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';

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
  /** Any exit code is a result. */
  try(...args: string[]): Promise<RunResult>;
  /** @throws InstallError when git fails. */
  do(...args: string[]): Promise<string>;
}

export function gitIn(folder: string, { run, scratchDir, signal, allowPrivateNetwork }: InstallContext): Git {
  async function tryGit(...args: string[]): Promise<RunResult> {
    try {
      return await run({
        program: 'git',
        args: [...SETTINGS, ...args],
        cwd: folder,
        env: {
          HOME: scratchDir,
          XDG_CONFIG_HOME: scratchDir,
          GIT_CEILING_DIRECTORIES: scratchDir,
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
        signal,
      });
    } catch (error) {
      if (error instanceof RunError && error.reason === 'missing')
        throw new InstallError('git is not installed on the machine of the hub: install git and try again.', {
          cause: error,
        });
      throw error;
    }
  }

  return {
    try: tryGit,
    async do(...args) {
      const { exitCode, stdout, stderr } = await tryGit(...args);
      if (exitCode === 0) return stdout.trim();
      throw new InstallError(`git ${args[0]} failed: ${lastWords(stderr)}`, { extra: { output: stderr.slice(-2000) } });
    },
  };
}

/** What git itself says is in its last lines; addresses in it may carry a password. */
export function lastWords(stderr: string): string {
  const lines = stderr.trim().split('\n').filter(Boolean);
  const fatal = lines.findLast((line) => /^(fatal|error): /.test(line)) ?? lines.at(-1) ?? 'it said nothing';
  return withoutPasswords(fatal.replace(/^(fatal|error): /, '')).slice(0, 300);
}

function withoutPasswords(text: string): string {
  return text.replace(/\/\/[^/\s@]+@/g, '//');
}
