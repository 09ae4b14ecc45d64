// Errors of requests. Their messages complete a sentence that starts with the address.
import { isIP } from 'node:net';

/** A fetch that could not be done; `isTemporary` says whether it is worth another try. */
export class FetchError extends Error {
  override readonly name = 'FetchError';
  readonly isTemporary: boolean;
  /** No answer came in time: the other side may have done what was asked all the same. */
  readonly isTimeout: boolean;

  constructor(
    message: string,
    { isTemporary, isTimeout = false, cause }: { isTemporary: boolean; isTimeout?: boolean; cause?: unknown },
  ) {
    super(message, { cause });
    this.isTemporary = isTemporary;
    this.isTimeout = isTimeout;
  }
}

export function tooLarge(maxBytes: number): FetchError {
  return new FetchError(`is larger than the ${maxBytes} bytes that are read`, { isTemporary: false });
}

/** `fault` is that of the address of the host, which may be another host after redirects. */
export function forbiddenHost(hostname: string, fault: string): FetchError {
  const subject = isIP(hostname) ? 'that' : 'its address';
  return new FetchError(`leads to ${hostname}, and ${subject} ${fault}`, { isTemporary: false });
}

/** As undici reports it. */
const PROXY_REFUSAL = /^Proxy response \((\d+)\)/;

export function networkError(error: Error): FetchError {
  const found = findFetchError(error);
  if (found) return found;
  const [, refused] = PROXY_REFUSAL.exec(error.message) ?? [];
  if (refused)
    return new FetchError(`was refused by the proxy (status ${refused})`, { isTemporary: true, cause: error });
  const code = (error as NodeJS.ErrnoException).code ?? (error.cause as NodeJS.ErrnoException | undefined)?.code;
  return new FetchError(`could not be reached (${code ?? error.message})`, { isTemporary: true, cause: error });
}

/** A refusal of the lookup arrives wrapped by the connection that failed because of it. */
function findFetchError(error: unknown): FetchError | undefined {
  if (error instanceof FetchError) return error;
  if (error instanceof AggregateError) return error.errors.map(findFetchError).find(Boolean);
  return error instanceof Error && error.cause ? findFetchError(error.cause) : undefined;
}
