// Errors of calls to another hub: a refused request, or a failed connection.
import { type ErrorCode, HubError, type InputFault } from '../errors.ts';

/** A refusal by the hub, with all details of its response. */
export class RefusedError extends HubError {
  readonly status: number;
  readonly requestId: string | undefined;
  /** From `Retry-After`, if the hub sent it. */
  readonly retryAfterSec: number | undefined;

  constructor(problem: ProblemDocument, { status, headers }: Pick<Response, 'status' | 'headers'>) {
    // A newer hub may send codes that are not in the list yet; they are kept.
    super((problem.code ?? problem.error ?? 'internal_error') as ErrorCode, problem.detail ?? problem.title ?? '', {
      faults: problem.errors,
    });
    this.status = status;
    this.requestId = problem.request_id ?? headers.get('x-request-id') ?? undefined;
    const retryAfter = headers.get('retry-after');
    this.retryAfterSec = retryAfter && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  }
}

/** Returns undefined if the text is not a problem document. */
export function readProblem(text: string): ProblemDocument | undefined {
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === 'object' && document !== null ? document : undefined;
  } catch {
    return undefined;
  }
}

/** A problem document of RFC 9457; every field may be missing. */
export interface ProblemDocument {
  title?: string;
  detail?: string;
  code?: string;
  error?: string;
  request_id?: string;
  errors?: InputFault[];
}
