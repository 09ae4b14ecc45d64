// What can go wrong with a request, as something a page can show.
import type { Problem } from '../../../src/http/problem.ts';

export type FailureKind = 'unauthorized' | 'not_found' | 'refused' | 'busy' | 'unreachable';

/** Thrown by every request that did not work. */
export class HubFailure extends Error {
  readonly kind: FailureKind;
  /** With it, the hub's log says more. */
  readonly requestId: string | undefined;

  constructor(kind: FailureKind, message: string, requestId?: string) {
    super(message);
    this.kind = kind;
    this.requestId = requestId;
  }
}

export function unreachable(): HubFailure {
  return new HubFailure(
    'unreachable',
    navigator.onLine
      ? 'The hub does not answer. It may be stopped, or restarting.'
      : 'This device is offline. The hub can be asked again once it is back.',
  );
}

export async function failureOf(response: Response): Promise<HubFailure> {
  const problem = (await response.json().catch(() => ({}))) as Partial<Problem>;
  return problemFailure({ status: response.status, ...problem });
}

export function problemFailure({ status = 500, detail, request_id }: Partial<Problem>): HubFailure {
  return new HubFailure(kindOf(status), detail ?? `The hub answered with status ${status}.`, request_id);
}

/** Anything that was thrown, as a failure that can be shown. */
export function asFailure(error: unknown): HubFailure {
  return error instanceof HubFailure ? error : unreachable();
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
