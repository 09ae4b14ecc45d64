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

/** Explains a failed connection to people. */
export function connectionFault(error: unknown): string {
  const { code, message } = deepestCause(error);
  const known = code === undefined ? undefined : CONNECTION_FAULTS[code];
  return known ?? `could not be reached (${code ?? message})`;
}

const CONNECTION_FAULTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'could not be reached: nothing listens there (ECONNREFUSED)',
  ENOTFOUND: 'could not be reached: the host does not exist (ENOTFOUND)',
  EAI_AGAIN: 'could not be reached: the DNS server does not respond (EAI_AGAIN)',
  ECONNRESET: 'closed the connection (ECONNRESET)',
  UND_ERR_SOCKET: 'closed the connection',
  ERR_SSL_WRONG_VERSION_NUMBER: 'does not use HTTPS on this port; try http://',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a self-signed certificate; to trust it, set NODE_EXTRA_CA_CERTS',
  SELF_SIGNED_CERT_IN_CHAIN: 'has a certificate of an unknown authority; to trust it, set NODE_EXTRA_CA_CERTS',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has a certificate of an unknown authority; to trust it, set NODE_EXTRA_CA_CERTS',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
};

/** `fetch` reports "fetch failed" and hides the reason in nested causes. */
function deepestCause(error: unknown): { code?: string; message: string } {
  const { cause } = (error ?? {}) as { cause?: unknown };
  if (cause instanceof Error) return deepestCause(cause);
  const [first] = error instanceof AggregateError ? error.errors : [];
  return (first ?? error ?? { message: 'no reason given' }) as { code?: string; message: string };
}
