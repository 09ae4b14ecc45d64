// Runs package managers and other tools, and explains their failures.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, parse, sep } from 'node:path';
import { RunError } from '../../lib/run.ts';
import { shownText } from '../../lib/secrets/secret-words.ts';
import type { RunRequest } from '../../lib/world.ts';
import { InstallError } from '../errors.ts';
import type { ArtifactContext } from './artifact.ts';

/** Pulling a 20 GB image takes a while. */
export const STEP_TIMEOUT_MS = 60 * 60_000;
const TRY_TIMEOUT_MS = 60_000;
/** Looking for a Python must not download one. */
export const NO_DOWNLOADS = { UV_PYTHON_DOWNLOADS: 'never' };

/** Output of programs when the hub's proxy refused a connection; some omit the reason. */
export const REFUSED_BY_PROXY =
  /ALLOW_PRIVATE_NETWORK=true allows it|range that is never connected to|address of a cloud.s metadata|tunnel error: unsuccessful|CONNECT tunnel failed, response 403/;

/** Output of programs when a host does not answer or closes the connection. */
export const UNREACHABLE =
  /connection (refused|reset)|couldn't connect|failed to (connect|fetch)|timed? ?out|too slow|unreachable|not resolve host|name or service not known|temporary failure|no such host|dns error|dial tcp|context deadline|NewConnectionError|ENOTFOUND|ECONN\w+|EAI_AGAIN|hung up|RPC failed|unexpected disconnect|fetch-pack: invalid|EOF$|(error|response):? 50[234]/im;

export const NEEDS_LOGIN =
  'it needs a login, and this machine has no valid one. On a hub, the operator must add its host to INSTALL_CREDENTIALS_FOR';

interface ProgramRequest extends Omit<RunRequest, 'timeoutMs' | 'signal'> {
  /** Whether the operator configured its registry. The address may contain a token, so only its host is shown. */
  isRegistrySecret?: boolean;
  /** The error if the machine does not have the program; says what to install. */
  whenMissing: string;
  /** Turns the output of a failed program into a sentence. */
  why(output: string): string;
}

type RunContext = Pick<ArtifactContext, 'run' | 'signal' | 'stagingDir'>;

/** Returns the program's output. @throws InstallError */
export async function runToEnd(request: ProgramRequest, { run, signal, stagingDir }: RunContext): Promise<string> {
  const { whenMissing, isRegistrySecret, why, ...rest } = request;
  const shown = (output: string) => (isRegistrySecret ? withHostsOnly(output) : output);
  const ended = await run({ ...rest, timeoutMs: STEP_TIMEOUT_MS, signal }).catch((error: unknown) => {
    if (!(error instanceof RunError)) throw error;
    if (error.reason === 'missing') throw new InstallError(whenMissing, { cause: error });
    throw new InstallError(`${error.message}.`, { cause: error, extra: { output: outputEnd(shown(error.output)) } });
  });
  if (ended.exitCode === 0) return shown(ended.stdout);
  const output = withoutFolders(shown(`${ended.stdout}\n${ended.stderr}`), [rest.cwd, stagingDir]);
  // Programs rarely report a full disk in their last line.
  throw new InstallError(DISK_FULL.test(output) ? NO_ROOM : why(output), { extra: { output: outputEnd(output) } });
}

/** Gives `use` a folder for logins: outside the target, readable only by this user, and removed afterward. */
export async function withLoginFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'hub-login-'));
  return use(folder).finally(() => rm(folder, { recursive: true, force: true }));
}

const DISK_FULL = /No space left on device|Out of diskspace|Disk quota exceeded|\bENOSPC\b|\bEDQUOT\b/i;
const NO_ROOM =
  'The disk is full: free some space and install again. Installs need space and quota in the target, in the folder for temporary files (TMPDIR) and in the home folder, where tools keep their caches.';

/** Returns the program's output; undefined if it is missing or fails. */
export async function tryProgram(program: string, args: readonly string[], context: RunContext) {
  const { run, signal } = context;
  const request = { program, args, cwd: neutralFolder(context), env: NO_DOWNLOADS, timeoutMs: TRY_TIMEOUT_MS, signal };
  const result = await run(request).catch((error: unknown) => {
    if (signal.aborted || !(error instanceof RunError)) throw error;
    return undefined;
  });
  return result?.exitCode === 0 ? result.stdout.trim() : undefined;
}

/** uv and `python3` shims read `uv.toml` and `.python-version` in the current folder and its parents. */
export function neutralFolder({ stagingDir }: Pick<ArtifactContext, 'stagingDir'>): string {
  return parse(stagingDir).root;
}

/** Meanings of a program's output. `$1` in a sentence is the pattern's first group. */
export type Causes = readonly (readonly [pattern: RegExp, sentence: string])[];

export function findCause(output: string, causes: Causes): string | undefined {
  for (const [pattern, sentence] of causes) {
    const found = pattern.exec(output);
    if (found) return sentence.replaceAll('$1', () => (found[1] ?? '').slice(0, 200));
  }
  return undefined;
}

/** The last meaningful line, for errors without a known cause. */
export function lastLine(output: string): string {
  const line =
    outputEnd(output)
      .split('\n')
      .findLast((each) => each.trim() !== '') ?? 'it gave no reason';
  return line
    .trim()
    .replace(/^(fatal|error): |\.$/gi, '')
    .slice(0, 300);
}

/** Removes paths of staging folders, which no longer exist. */
function withoutFolders(text: string, folders: readonly string[]): string {
  // Longest first: the folder that is built is often inside the staging folder.
  const known = folders.filter((folder) => folder !== parse(folder).root).sort((a, b) => b.length - a.length);
  return known.reduce((shown, folder) => shown.replaceAll(`${folder}${sep}`, '').replaceAll(folder, '.'), text);
}

/** The end of a program's output, for the report. Secrets are removed before the text is cut. */
export function outputEnd(output: string): string {
  return shownText(withoutLogins(output.trim())).slice(-2_000);
}

const ADDRESS = /(\/\/[^\s/?#'"`<>()]+)[/?#][^\s'"`<>()]+/g;
/** urllib3 prints the path separately from the host. */
const PATH_OF_ADDRESS = /\b(with url: |connection broken by .*': )\S+/g;

function withHostsOnly(text: string): string {
  return withoutLogins(text).replace(ADDRESS, '$1/***').replace(PATH_OF_ADDRESS, '$1***');
}

function withoutLogins(text: string): string {
  return text.replace(/\/\/[^\s/?#]+@/g, '//');
}
