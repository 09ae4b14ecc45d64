// Prints a failure as one line of JSON, in the format of the hub's HTTP problems.
import { HubError } from '../../errors.ts';
import { harmlessJson } from '../../lib/harmless.ts';
import { type Ending, EXIT_CODES } from '../exit-codes.ts';

/** For errors that are not a `HubError`. */
const CODES: Record<Ending, string> = {
  ok: 'ok',
  failed: 'failed',
  usage: 'usage',
  notFound: 'not_found',
  unauthorized: 'unauthorized',
  unreachable: 'unreachable',
  stopped: 'stopped',
};

export function failureForPrograms(error: unknown, { ending, message }: { ending: Ending; message: string }): string {
  const code = error instanceof HubError ? error.code : CODES[ending];
  const { code: exitCode, meaning } = EXIT_CODES[ending];
  const problem = {
    type: `urn:hub:problem:${code}`,
    title: meaning,
    detail: message,
    code,
    error: code,
    exit_code: exitCode,
    ...(error instanceof HubError && error.faults.length > 0 ? { errors: error.faults } : {}),
    ...seenByServer(error),
  };
  return `${harmlessJson(JSON.stringify(problem))}\n`;
}

/** Fields of the server's response. */
function seenByServer(error: unknown): { status?: number; request_id?: string } {
  // Detected by property, because the client module is loaded only when needed.
  const { status, requestId } = error as { status?: unknown; requestId?: unknown };
  return {
    ...(typeof status === 'number' ? { status } : {}),
    ...(typeof requestId === 'string' ? { request_id: requestId } : {}),
  };
}
