// Programs of other package managers, and what they say when they fail.
import { RunError } from '../../lib/run.ts';
import { shownText } from '../../lib/secret-words.ts';
import type { RunResult } from '../../lib/world.ts';
import { fileSentence } from '../explain.ts';
import { type InstallContext, InstallError } from './artifact-installer.ts';

const PROGRAM_TIMEOUT_MS = 15 * 60_000;

/** What programs say when the hub's proxy did not let them through, some of them without the reason. */
export const HELD_BACK =
  /which ALLOW_PRIVATE_NETWORK does not allow|range that is never connected to|address of a cloud.s metadata|tunnel error: unsuccessful/;

export interface ProgramRequest {
  program: string;
  args: readonly string[];
  cwd: string;
  env?: Record<string, string>;
  /** For programs that go to hosts which a manifest names. */
  isGuarded?: boolean;
  timeoutMs?: number;
  /** As of `RunRequest`. */
  mostOutputBytes?: number;
  /** Of the operator's own, which may hold a token anywhere: what the program writes is told without them. */
  ownAddresses?: readonly string[];
  /** What to do when the machine has no such program. */
  whenMissing: string;
}

/** Any exit code is a result. @throws InstallError when it is not there, takes too long or has no room on the disk. */
export async function runProgram(request: ProgramRequest, { run, signal }: InstallContext): Promise<RunResult> {
  const { whenMissing, timeoutMs = PROGRAM_TIMEOUT_MS, ownAddresses = [], ...rest } = request;
  const told = (output: string) => withoutAddresses(output, ownAddresses);
  try {
    const { exitCode, stdout, stderr } = await run({ ...rest, timeoutMs, signal });
    const result = { exitCode, stdout: told(stdout), stderr: told(stderr) };
    demandRoom(result);
    return result;
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    if (error.reason === 'missing') throw new InstallError(whenMissing, { cause: error });
    throw new InstallError(`${error.message}.`, { cause: error, extra: { output: outputEnd(told(error.output)) } });
  }
}

const NO_ROOM: readonly [RegExp, string][] = [
  [/No space left on device|Out of diskspace|\bENOSPC\b/i, 'ENOSPC'],
  [/Disk quota exceeded|\bEDQUOT\b/i, 'EDQUOT'],
];

/** What programs say last is what came of it: a full disk is named somewhere before. @throws InstallError */
export function demandRoom({ exitCode, stdout, stderr }: RunResult): void {
  const output = `${stdout}\n${stderr}`;
  const code = exitCode === 0 ? undefined : NO_ROOM.find(([pattern]) => pattern.test(output))?.[1];
  const sentence = fileSentence({ code });
  if (sentence)
    throw new InstallError(
      `${sentence} Programs work in the folder for temporary files (TMPDIR, else /var/tmp), and keep what they fetch in the home of the hub's user.`,
    );
}

/** Whether a program is there and does what it is asked to. */
export async function works(
  program: string,
  args: readonly string[],
  context: InstallContext,
  env?: Record<string, string>,
) {
  const { run, signal, workDir } = context;
  const result = await run({ program, args, cwd: workDir, env, timeoutMs: 20_000, signal }).catch((error: unknown) => {
    if (signal.aborted || !(error instanceof RunError)) throw error;
    return undefined;
  });
  return result?.exitCode === 0;
}

/** The end of what a program wrote, for the report: without the secrets of addresses, also of one that is cut off there. */
export function outputEnd(output: string): string {
  return withoutPasswords(output.trim()).slice(-2_000);
}

/** Logins and secret parameters of the addresses in a text. */
export function withoutPasswords(text: string): string {
  return shownText(withoutLogins(text));
}

const ADDRESS = /\b(https?:\/\/)([^\s/?#'"`<>()]+)[/?#][^\s'"`<>()]*/gi;
/** As urllib3 tells it, apart from its host. */
const PATH_OF_ADDRESS = /\b(with url: |connection broken by .*': )\S+/g;

/** For programs whose settings are the operator's own, and cannot be asked for: of every address only its host is told. */
export function withHostsOnly(text: string): string {
  return withoutLogins(text).replace(ADDRESS, '$1$2/***').replace(PATH_OF_ADDRESS, '$1***');
}

/** Addresses that are only a host say nothing that a reader may not know. */
function withoutAddresses(text: string, addresses: readonly string[]): string {
  const places = addresses
    .map((address) => new URL(address))
    .filter(({ pathname, search }) => pathname !== '/' || search !== '')
    .map(({ host, pathname, search }) => `//${host}${pathname.replace(/\/+$/, '')}${search}`);
  // Programs write them with their logins, without, and as `//host/path`.
  return places
    .flatMap((place) => [`https:${place}`, `http:${place}`, place])
    .reduce((told, place) => told.replaceAll(place, 'the registry'), places.length > 0 ? withoutLogins(text) : text);
}

function withoutLogins(text: string): string {
  return text.replace(/\/\/[^\s/?#]+@/g, '//');
}
