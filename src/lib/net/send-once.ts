// Sends one request within its limits of time and size, without following redirects.
import type { Dispatcher } from 'undici';
import { onceAborted } from '../workers/once-aborted.ts';
import type { FetchReply, FetchRequest } from '../world.ts';
import { type Body, gatherBody, unpackBody } from './body.ts';
import { FetchError, networkError, tooLarge } from './fetch-error.ts';

interface TimedRequest extends FetchRequest {
  /** In the time of `performance.now()`. */
  deadline: number;
}

type ReceivedHeaders = Record<string, string | string[] | undefined>;

const NOTHING = Buffer.alloc(0);

export function sendOnce(agent: Dispatcher, url: URL, request: TimedRequest): Promise<FetchReply> {
  const { method = 'GET', body = null, headers, signal } = request;
  const exchange = new Exchange(url, request);
  const { origin, pathname, search } = url;
  const sent = { 'accept-encoding': 'br, gzip', ...ownHeaders(url), ...headers };
  if (!signal?.aborted) agent.dispatch({ origin, path: `${pathname}${search}`, method, body, headers: sent }, exchange);
  return exchange.settled.promise;
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly settled = Promise.withResolvers<FetchReply>();
  private readonly request: TimedRequest;
  private readonly stopListening: (() => void) | undefined;
  private timer: NodeJS.Timeout | undefined;
  private controller: Dispatcher.DispatchController | undefined;
  private failure: Error | undefined;
  private head: Omit<FetchReply, 'body'>;
  private body: Body | undefined;

  constructor({ href: url }: URL, request: TimedRequest) {
    const { timeoutMs, deadline, signal } = request;
    this.request = request;
    this.head = { url, status: 0, headers: {} };
    const timeLeftMs = Math.max(Math.ceil(deadline - performance.now()), 0);
    this.failAfter(timeLeftMs, `did not answer within ${timeoutMs / 1000} s`);
    const stop = () => this.fail(new FetchError('was stopped', { isTemporary: false }));
    this.stopListening = signal && onceAborted(signal, stop);
    if (signal?.aborted) stop();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.failure) controller.abort(this.failure);
  }

  onResponseStart(_controller: unknown, status: number, headers: ReceivedHeaders): void {
    // 1xx responses precede the actual response.
    if (status < 200) return;
    const { maxBytes, cutsLongBody, idleTimeoutMs } = this.request;
    if (idleTimeoutMs !== undefined)
      this.failAfter(idleTimeoutMs, `stopped in the middle and sent nothing for ${idleTimeoutMs / 1000} s`);
    this.head = { url: this.head.url, status, headers: plainHeaders(headers) };
    const announcedBytes = Number(this.head.headers['content-length'] ?? 0);
    if (announcedBytes > maxBytes && !cutsLongBody) this.fail(tooLarge(maxBytes));
    else this.body = gatherBody({ announcedBytes, maxBytes });
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    const { maxBytes, cutsLongBody, idleTimeoutMs } = this.request;
    if (idleTimeoutMs !== undefined) this.timer?.refresh();
    if (this.body?.add(chunk) !== false) return;
    if (cutsLongBody) this.settled.resolve({ ...this.head, body: this.body.whole() });
    // Stops reading. If the cut body was already returned, this failure has no effect.
    this.fail(tooLarge(maxBytes));
  }

  onResponseEnd(): void {
    this.release();
    const { maxBytes, cutsLongBody } = this.request;
    const body = this.body?.whole() ?? NOTHING;
    if (body.length === 0 || cutsLongBody) this.settled.resolve({ ...this.head, body });
    else unpacked(body, this.head, maxBytes).then(this.settled.resolve, this.settled.reject);
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.fail(networkError(error));
  }

  private failAfter(ms: number, message: string): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.fail(new FetchError(message, { isTemporary: true, isTimeout: true })), ms);
  }

  /** Rejects at once in every state of the connection, even before it is established. */
  private fail(error: Error): void {
    this.release();
    this.failure ??= error;
    this.settled.reject(this.failure);
    this.controller?.abort(this.failure);
  }

  private release(): void {
    clearTimeout(this.timer);
    this.stopListening?.();
  }
}

async function unpacked(packed: Buffer, reply: Omit<FetchReply, 'body'>, maxBytes: number): Promise<FetchReply> {
  const encoding = reply.headers['content-encoding'] ?? '';
  const result = await unpackBody(packed, encoding, maxBytes);
  if (result.ok) return { ...reply, body: result.body };
  if (result.fault === 'too large') throw tooLarge(maxBytes);
  if (result.fault === 'broken') throw new FetchError(`was sent as broken ${encoding}`, { isTemporary: true });
  throw new FetchError(`was sent as '${encoding}', which was not requested`, { isTemporary: false });
}

export function plainHeaders(headers: ReceivedHeaders): Record<string, string> {
  const plain: Record<string, string> = {};
  // A loop, because it runs for a hundred thousand requests in a row.
  for (const name of Object.keys(headers)) {
    const value = headers[name] ?? '';
    plain[name.toLowerCase()] = typeof value === 'string' ? value : value.join(', ');
  }
  return plain;
}

/** The user agent, and the credentials if the URL contains any. */
export function ownHeaders({ username, password }: URL): Record<string, string> {
  const name = { 'user-agent': 'catalog-hub' };
  if (!username) return name;
  const credentials = [username, password].map((part) => decoded(part)).join(':');
  return { ...name, authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
