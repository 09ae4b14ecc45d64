// Converts errors of requests to failures that a page can show.
import type { Problem } from '../../../src/http/problem.ts';
import { type FailureKind, HubFailure } from './failure.ts';

export function unreachable(): HubFailure {
  return new HubFailure(
    'unreachable',
    navigator.onLine
      ? 'The hub does not answer. It may be stopped, or restarting.'
      : 'This device is offline. Try again when it is back online.',
  );
}

export function unreadable(): HubFailure {
  return new HubFailure(
    'unreadable',
    'The response is not from the hub. Something between this page and the hub may have changed it.',
  );
}

export async function failureOf(response: Response): Promise<HubFailure> {
  const problem = (await response.json().catch(() => ({}))) as Partial<Problem>;
  return problemFailure({ status: response.status, ...problem });
}

export function problemFailure({ status = 500, detail, request_id, errors }: Partial<Problem>): HubFailure {
  const message = detail ?? `The hub answered with status ${status}.`;
  return new HubFailure(kindOf(status), message, {
    // The log says more only about errors of the hub itself.
    requestId: status >= 500 ? request_id : undefined,
    faults: errors,
  });
}

/** Converts any thrown value to a failure that can be shown. */
export function asFailure(error: unknown): HubFailure {
  if (error instanceof HubFailure) return error;
  // Unexpected errors go to the console for developers.
  reportError(error);
  return new HubFailure(
    'page',
    `This page failed (${error instanceof Error ? error.message : String(error)}). Reload it; work in the hub continues.`,
  );
}

export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

function kindOf(status: number): FailureKind {
  if (status === 401) return 'unauthorized';
  if (status === 404) return 'not_found';
  if (status === 409 || status === 429 || status === 503) return 'busy';
  return 'refused';
}
