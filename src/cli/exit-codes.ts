// Exit codes, and the failures that lead to each.
import { HubError, messageOf, SettingError, UnreachableError } from '../errors.ts';

/** docs/cli.md is generated from this list. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: 'Success.' },
  failed: { code: 1, meaning: 'Failure: a step, a remote, a check, or the hub itself failed.' },
  usage: { code: 2, meaning: 'The command line, a setting or a value was wrong; nothing was done.' },
  notFound: { code: 3, meaning: 'The requested item was not found.' },
  unauthorized: { code: 4, meaning: 'The token is missing or refused, or its role or scope does not allow this.' },
  unreachable: { code: 5, meaning: 'The hub could not be reached, or the response is not from a hub.' },
  stopped: { code: 130, meaning: 'Stopped by Ctrl-C or a signal before it was done.' },
} as const;

export type Ending = keyof typeof EXIT_CODES;

/** An invalid command line; the message explains why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Something that does not exist; the message says what to do. */
export class NotFoundError extends Error {
  override readonly name = 'NotFoundError';
}

/** A file that the command cannot write; `what` begins the sentence. */
export class OutputError extends Error {
  override readonly name = 'OutputError';

  constructor(what: string, cause: unknown) {
    const advice = 'Choose a folder that you may write to, with enough space.';
    super(`${what} could not be written (${messageOf(cause)}). ${advice}`, { cause });
  }
}

export function endingOf(error: unknown): Ending {
  if (error instanceof UsageError || error instanceof SettingError) return 'usage';
  if (error instanceof NotFoundError) return 'notFound';
  if (error instanceof UnreachableError) return 'unreachable';
  return error instanceof HubError ? (HUB_ERRORS[error.code] ?? 'failed') : 'failed';
}

const HUB_ERRORS: Readonly<Record<string, Ending>> = {
  entity_not_found: 'notFound',
  remote_not_found: 'notFound',
  token_not_found: 'notFound',
  webhook_not_found: 'notFound',
  view_not_found: 'notFound',
  route_not_found: 'notFound',
  unauthorized: 'unauthorized',
  forbidden: 'unauthorized',
  invalid_request: 'usage',
  invalid_manifest: 'usage',
  invalid_server: 'usage',
  invalid_policy: 'usage',
  invalid_json: 'usage',
  uri_too_long: 'usage',
  payload_too_large: 'usage',
};
