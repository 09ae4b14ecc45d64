// The command line: runs what was typed, and says what went wrong.
import { CommanderError } from 'commander';
import { HubError, StartError } from '../errors.ts';
import { COMMAND_TABLE } from './command-table.ts';
import { type Ending, EXIT_CODES, endingOf, NotFoundError, UsageError } from './exit-codes.ts';
import { harmless } from './output/text.ts';
import { createProgram } from './program.ts';
import type { Terminal } from './terminal.ts';

/** The exit code. */
export async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  let ending: Ending = 'ok';
  try {
    const onEnd = (end: Ending) => {
      ending = end;
    };
    await createProgram({ table: COMMAND_TABLE, terminal, onEnd }).parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return EXIT_CODES[error.exitCode === 0 ? 'ok' : 'usage'].code;
    if (!isExpected(error)) throw error;
    // What was wrong from the beginning is wrong also when somebody stops it.
    const isStopped = terminal.shutdown.aborted && !(error instanceof StartError || error instanceof UsageError);
    ending = isStopped ? 'failed' : endingOf(error);
    const message = isStopped ? 'Stopped before it was done.' : `${error.message}${ADVICE[ending] ?? ''}`;
    terminal.writeError(`hub: ${harmless(message)}\n`);
  }
  return EXIT_CODES[ending].code;
}

/** What has a sentence for people; anything else is a fault of the hub's own, and is shown whole. */
function isExpected(error: unknown): error is Error {
  if ([HubError, StartError, UsageError, NotFoundError].some((kind) => error instanceof kind)) return true;
  if (!(error instanceof Error)) return false;
  // Of files the system itself says what is wrong with which.
  return ['UnreachableError', 'InstallError', 'PathError', 'AbortError'].includes(error.name) || 'syscall' in error;
}

const ADVICE: Partial<Record<Ending, string>> = {
  unauthorized: ' Set HUB_TOKEN to the API_TOKEN of the hub.',
  unreachable: " 'hub serve' starts one; without --hub and HUB_URL, commands use the local database.",
};
