// Programs of other package managers, and what they say when they fail.
import { sep } from 'node:path';
import { RunError } from '../../lib/run.ts';
import { shownText } from '../../lib/secret-words.ts';
import type { RunResult } from '../../lib/world.ts';
import { InstallError } from '../errors.ts';
import type { ArtifactContext } from './artifact.ts';

const PROGRAM_TIMEOUT_MS = 15 * 60_000;

/** What programs write when the hub's proxy did not let them through, some of them without the reason. */
export const HELD_BACK =
  /which ALLOW_PRIVATE_NETWORK does not allow|range that is never connected to|address of a cloud.s metadata|tunnel error: unsuccessful/;

export interface ProgramRequest {
  program: string;
  args: readonly string[];
  cwd: string;
  env?: Record<string, string>;
  /** As in `RunRequest`. */
  inherit?: readonly string[];
  /** For programs that connect to hosts that a manifest names. */
  isGuarded?: boolean;
  timeoutMs?: number;
  /** As in `RunRequest`. */
  mostOutputBytes?: number;
  /** Addresses that the operator configured. They may contain a token anywhere, so they are removed from the output. */
  ownAddresses?: readonly string[];
  /** The error when the machine does not have the program: what to install. */
  whenMissing: string;
}

/** Any exit code is a result. @throws InstallError when the program is missing, takes too long or fills the disk. */
export async function runProgram(
  request: ProgramRequest,
  { run, signal }: Pick<ArtifactContext, 'run' | 'signal'>,
): Promise<RunResult> {
  const { whenMissing, timeoutMs = PROGRAM_TIMEOUT_MS, ownAddresses = [], ...rest } = request;
  const shown = (output: string) => withoutAddresses(output, ownAddresses);
  try {
    const { exitCode, stdout, stderr } = await run({ ...rest, timeoutMs, signal });
    const result = { exitCode, stdout: shown(stdout), stderr: shown(stderr) };
    demandRoom(result);
    return result;
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    if (error.reason === 'missing') throw new InstallError(whenMissing, { cause: error });
    throw new InstallError(`${error.message}.`, { cause: error, extra: { output: outputEnd(shown(error.output)) } });
  }
}

const NO_ROOM: readonly [RegExp, string][] = [
  [/No space left on device|Out of diskspace|\bENOSPC\b/i, 'The disk is full'],
  [/Disk quota exceeded|\bEDQUOT\b/i, 'The disk quota is used up'],
];

/** A full disk is rarely the last thing that a program reports, so it is looked for in all of the output. @throws InstallError */
function demandRoom({ exitCode, stdout, stderr }: RunResult): void {
  if (exitCode === 0) return;
  const problem = NO_ROOM.find(([pattern]) => pattern.test(`${stdout}\n${stderr}`))?.[1];
  if (problem)
    throw new InstallError(
      `${problem}: make room and install again. Installs need space in the target, in the folder for temporary files (TMPDIR) and in the home folder, where tools keep their caches.`,
    );
}

/** Whether a program is installed and exits with 0. */
export async function works(
  program: string,
  args: readonly string[],
  { run, signal, stagingDir }: Pick<ArtifactContext, 'run' | 'signal' | 'stagingDir'>,
  env?: Record<string, string>,
): Promise<boolean> {
  const request = { program, args, cwd: stagingDir, env, timeoutMs: 20_000, signal };
  const result = await run(request).catch((error: unknown) => {
    if (signal.aborted || !(error instanceof RunError)) throw error;
    return undefined;
  });
  return result?.exitCode === 0;
}

/** What a program's output means: the first pattern that matches gives the sentence. */
export type Causes = readonly (readonly [RegExp, (found: RegExpExecArray) => string])[];

export function findCause(output: string, causes: Causes): string | undefined {
  for (const [pattern, sentence] of causes) {
    const found = pattern.exec(output);
    if (found) return sentence(found);
  }
  return undefined;
}

/** Folders of the hub mean nothing to a reader: staging folders are gone by then. */
export function withoutFolders(text: string, folders: readonly string[]): string {
  return folders.reduce((shown, folder) => shown.replaceAll(`${folder}${sep}`, '').replaceAll(folder, '.'), text);
}

/** The end of a program's output, for the report, without secrets. They are removed before the text is cut, not after. */
export function outputEnd(output: string): string {
  return withoutPasswords(output.trim()).slice(-2_000);
}

/** Removes logins and secret parameters from the addresses in a text. */
function withoutPasswords(text: string): string {
  return shownText(withoutLogins(text));
}

const ADDRESS = /\b(https?:\/\/)([^\s/?#'"`<>()]+)[/?#][^\s'"`<>()]*/gi;
/** urllib3 writes the path apart from its host. */
const PATH_OF_ADDRESS = /\b(with url: |connection broken by .*': )\S+/g;

/** Keeps only the host of every address: for programs whose configured addresses are the operator's and not known to the hub. */
export function withHostsOnly(text: string): string {
  return withoutLogins(text).replace(ADDRESS, '$1$2/***').replace(PATH_OF_ADDRESS, '$1***');
}

/** Addresses that consist of a host only are not secret. */
function withoutAddresses(text: string, addresses: readonly string[]): string {
  const places = addresses
    .map((address) => new URL(address))
    .filter(({ pathname, search }) => pathname !== '/' || search !== '')
    .map(({ host, pathname, search }) => `//${host}${pathname.replace(/\/+$/, '')}${search}`);
  // Programs write them with a login, without one, and as `//host/path`.
  return places
    .flatMap((place) => [`https:${place}`, `http:${place}`, place])
    .reduce((shown, place) => shown.replaceAll(place, 'the registry'), places.length > 0 ? withoutLogins(text) : text);
}

function withoutLogins(text: string): string {
  return text.replace(/\/\/[^\s/?#]+@/g, '//');
}
