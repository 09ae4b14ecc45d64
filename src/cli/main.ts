// The command line: parses the arguments, runs the command, and reports errors.
import { CommanderError } from 'commander';
import { HubError, messageOf, StartError, UnreachableError } from '../errors.ts';
import { harmless } from '../lib/harmless.ts';
import { COMMAND_TABLE } from './command-table.ts';
import { type Ending, EXIT_CODES, endingOf, NotFoundError, OutputError, UsageError } from './exit-codes.ts';
import { failureForPrograms } from './output/failure.ts';
import { createProgram } from './program.ts';
import type { Terminal } from './terminal/terminal.ts';

/** Resolves to the exit code. */
export async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  const isJson = asksForJson(args);
  let ending = 'ok' as Ending;
  try {
    const onEnd = (end: Ending) => {
      ending = end;
    };
    // The parser's messages are for people; programs get JSON below.
    const parsing = isJson ? { ...terminal, writeError: () => {} } : terminal;
    await createProgram({ table: COMMAND_TABLE, terminal, parsing, onEnd }).parseAsync(args, { from: 'user' });
    // The report lists stopped steps as failed.
    const isStopped = ending === 'failed' && terminal.shutdown.aborted;
    return EXIT_CODES[isStopped ? 'stopped' : ending].code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT_CODES.ok.code;
    if (!isExpected(error) && !isJson) throw error;
    const failure = failureOf(error, terminal);
    if (isJson) terminal.writeError(failureForPrograms(error, failure));
    else if (!(error instanceof CommanderError)) terminal.writeError(`hub: ${harmless(failure.message)}\n`);
    return EXIT_CODES[failure.ending].code;
  }
}

/** Works even if the rest of the command line is invalid. */
function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).includes('--json');
}

function failureOf(error: unknown, { shutdown }: Terminal): { ending: Ending; message: string } {
  if (error instanceof CommanderError) return { ending: 'usage', message: usageMessage(error) };
  // A usage error is reported even if the command was stopped.
  const isAborted = shutdown.aborted || (error instanceof Error && error.name === 'AbortError');
  const isStopped = isAborted && !(error instanceof StartError || error instanceof UsageError);
  if (isStopped) return { ending: 'stopped', message: 'Stopped before it was done.' };
  const ending = endingOf(error);
  const message = messageOf(error);
  // A forbidden operation needs another token, so the advice to set HUB_TOKEN would not help.
  const isAdvised = isOfServer(error) && !(error instanceof HubError && error.code === 'forbidden');
  return { ending, message: `${message}${isAdvised ? (ADVICE[ending] ?? '') : ''}` };
}

/** Whether a server refused the request or could not be reached; such errors do not mention the command line. */
function isOfServer(error: unknown): boolean {
  return error instanceof UnreachableError || (error instanceof HubError && 'status' in error);
}

function usageMessage({ code, message }: CommanderError): string {
  if (code === 'commander.help') return "No command was given; 'hub --help' lists the commands.";
  return message.replace(/^error: /, '');
}

/** Whether the message is written for people; any other error is a bug in the hub, and is shown with its stack. */
function isExpected(error: unknown): boolean {
  const kinds = [HubError, StartError, UnreachableError, UsageError, NotFoundError, OutputError, CommanderError];
  if (kinds.some((kind) => error instanceof kind)) return true;
  if (!(error instanceof Error)) return false;
  // System errors already name the file and the cause.
  return ['InstallError', 'AbortError'].includes(error.name) || 'syscall' in error;
}

const ADVICE: Partial<Record<Ending, string>> = {
  unauthorized: ' Set HUB_TOKEN to a token of the hub.',
  unreachable: " 'hub serve' starts one; without --hub and HUB_URL, commands use the local catalog.",
};
