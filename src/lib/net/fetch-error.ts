// Errors of requests. Their messages complete a sentence that starts with the URL.
import { isIP } from 'node:net';
import { connectionFault } from './connection-fault.ts';

/** A failed fetch; `isTemporary` says whether a retry makes sense. */
export class FetchError extends Error {
  override readonly name = 'FetchError';
  readonly isTemporary: boolean;
  /** No response arrived in time: the server may still have processed the request. */
  readonly isTimeout: boolean;
  /** The response has more bytes than the caller reads. */
  readonly isTooLarge: boolean;

  constructor(message: string, { isTemporary, isTimeout = false, isTooLarge = false, cause }: FetchErrorOptions) {
    super(message, { cause });
    this.isTemporary = isTemporary;
    this.isTimeout = isTimeout;
    this.isTooLarge = isTooLarge;
  }
}

interface FetchErrorOptions {
  isTemporary: boolean;
  isTimeout?: boolean;
  isTooLarge?: boolean;
  cause?: unknown;
}

export function tooLarge(maxBytes: number): FetchError {
  return new FetchError(`is larger than the limit of ${maxBytes} bytes`, { isTemporary: false, isTooLarge: true });
}

/** `fault` describes the host's address; after redirects, it may be another host. */
export function forbiddenHost(hostname: string, fault: string): FetchError {
  const subject = isIP(hostname) ? hostname : `the address of ${hostname}`;
  return new FetchError(`is not allowed: ${subject} ${fault}`, { isTemporary: false });
}

/** undici's message. */
const PROXY_REFUSAL = /^Proxy response \((\d+)\)/;

export function networkError(error: Error): FetchError {
  const found = findFetchError(error);
  if (found) return found;
  const [, refused] = PROXY_REFUSAL.exec(error.message) ?? [];
  if (refused)
    return new FetchError(`was refused by the proxy (status ${refused})`, { isTemporary: true, cause: error });
  return new FetchError(connectionFault(error), { isTemporary: true, cause: error });
}

/** When the lookup refuses an address, undici wraps that error in its connection error. */
function findFetchError(error: unknown): FetchError | undefined {
  if (error instanceof FetchError) return error;
  if (error instanceof AggregateError) return error.errors.map(findFetchError).find(Boolean);
  return error instanceof Error && error.cause ? findFetchError(error.cause) : undefined;
}
