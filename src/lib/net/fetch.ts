// Guarded requests: every address is checked when connecting, including redirects; size and time are limited.
import type { Dispatcher } from 'undici';
import { onceAborted } from '../workers/once-aborted.ts';
import type { Fetch, FetchReply, FetchRequest } from '../world.ts';
import { type Body, gatherBody, unpackBody } from './body.ts';
import { FetchError, networkError, tooLarge } from './fetch-error.ts';
import { guardedAgent } from './guarded-agent.ts';
import type { NetworkRule } from './network-rule.ts';
import type { ProxyFor } from './proxies.ts';

const MOST_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];
/** Headers that may be sent to another host; any other header may contain a credential. */
const OPEN_HEADERS = ['accept', 'if-none-match', 'if-modified-since', 'range', 'if-range', 'git-protocol'];
const NOTHING = Buffer.alloc(0);

export interface GuardedFetch {
  fetch: Fetch;
  close(): Promise<void>;
}

export function createFetch(rule: NetworkRule, proxyFor?: ProxyFor): GuardedFetch {
  const agent = guardedAgent(rule, proxyFor);
  return {
    fetch(request) {
      const deadline = performance.now() + request.timeoutMs;
      return followRedirects(request, (url, hop) =>
        agent.use(url, (sender) => exchange(sender, url, { ...hop, deadline })),
      );
    },
    close: () => agent.close(),
  };
}

interface Hop {
  url: string;
  method?: FetchRequest['method'];
  headers?: Record<string, string>;
  credentialScope?: string;
}

/** Follows redirects; every hop is checked, and credentials are not sent to other hosts. */
export async function followRedirects<Request extends Hop, Reply extends Pick<FetchReply, 'status' | 'headers'>>(
  request: Request,
  sendOnce: (url: URL, request: Request) => Promise<Reply>,
): Promise<Reply> {
  let url = readUrl(request.url);
  let sent = request;
  const scope = request.credentialScope ?? `${url.origin}/`;
  for (let hop = 0; hop <= MOST_REDIRECTS; hop += 1) {
    const reply = await sendOnce(url, sent);
    const isRedirect = REDIRECTS.includes(reply.status) && (request.method ?? 'GET') === 'GET';
    const location = isRedirect ? reply.headers.location : undefined;
    if (location === undefined) return reply;
    url = readUrl(location, url);
    sent = isBelow(url, scope) ? request : withoutCredentials(request);
  }
  throw new FetchError(`was redirected more than ${MOST_REDIRECTS} times`, { isTemporary: false });
}

/** `prefix` ends with `/`, so that `https://h/ab` is not below `https://h/a`. */
export function isBelow({ origin, pathname }: URL, prefix: string): boolean {
  return `${origin}${pathname}/`.startsWith(prefix);
}

function readUrl(address: string, base?: URL): URL {
  const url = URL.parse(address, base?.href);
  if (!url)
    throw new FetchError(base ? 'was redirected to something that is not an address' : 'is not a readable address', {
      isTemporary: false,
    });
  const { protocol } = url;
  if (protocol === 'http:' || protocol === 'https:') return url;
  throw new FetchError(`has the scheme '${protocol}', but only http and https are supported`, { isTemporary: false });
}

function withoutCredentials<Request extends Hop>(request: Request): Request {
  const headers = Object.entries(request.headers ?? {}).filter(([name]) => OPEN_HEADERS.includes(name.toLowerCase()));
  return { ...request, headers: Object.fromEntries(headers) };
}

interface TimedRequest extends FetchRequest {
  /** In the time of `performance.now()`. */
  deadline: number;
}

/** Sends one request, without following redirects. */
function exchange(
  agent: Dispatcher,
  url: URL,
  {
    method = 'GET',
    body,
    headers,
    maxBytes,
    cutsLongBody = false,
    timeoutMs,
    idleTimeoutMs,
    signal,
    deadline,
  }: TimedRequest,
): Promise<FetchReply> {
  const { promise, resolve, reject } = Promise.withResolvers<FetchReply>();
  let controller: Dispatcher.DispatchController | undefined;
  let failure: Error | undefined;
  let reply: Omit<FetchReply, 'body'> = { url: url.href, status: 0, headers: {} };
  let gathered: Body | undefined;

  const onAbort = () => fail(new FetchError('was stopped', { isTemporary: false }));
  const timeLeftMs = Math.max(Math.ceil(deadline - performance.now()), 0);
  let timer = setTimeout(() => fail(timedOut(`did not answer within ${timeoutMs / 1000} s`)), timeLeftMs);
  const stopListening = signal && onceAborted(signal, onAbort);

  function settle(): void {
    clearTimeout(timer);
    stopListening?.();
  }

  /** Applies once the response has begun. */
  function limitSilence(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => fail(timedOut(`stopped in the middle and sent nothing for ${ms / 1000} s`)), ms);
  }

  /** Rejects at once in every state of the connection, even before it is established. */
  function fail(error: Error): void {
    settle();
    failure ??= error;
    reject(failure);
    controller?.abort(failure);
  }

  if (signal?.aborted) {
    onAbort();
    return promise;
  }
  agent.dispatch(
    {
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method,
      body: body ?? null,
      headers: { 'accept-encoding': 'br, gzip', ...ownHeaders(url), ...headers },
    },
    {
      onRequestStart(started) {
        controller = started;
        if (failure) started.abort(failure);
      },
      onResponseStart(_controller, status, replyHeaders) {
        // 1xx responses precede the actual response.
        if (status < 200) return;
        if (idleTimeoutMs !== undefined) limitSilence(idleTimeoutMs);
        reply = { url: url.href, status, headers: plainHeaders(replyHeaders) };
        const announcedBytes = Number(reply.headers['content-length'] ?? 0);
        if (announcedBytes > maxBytes && !cutsLongBody) fail(tooLarge(maxBytes));
        else gathered = gatherBody({ announcedBytes, maxBytes });
      },
      onResponseData(_controller, chunk) {
        if (idleTimeoutMs !== undefined) timer.refresh();
        if (gathered?.add(chunk) !== false) return;
        if (cutsLongBody) resolve({ ...reply, body: gathered.whole() });
        // Stops reading. If the cut body was already returned, this failure has no effect.
        fail(tooLarge(maxBytes));
      },
      onResponseEnd() {
        settle();
        const received = gathered?.whole() ?? NOTHING;
        if (received.length === 0 || cutsLongBody) resolve({ ...reply, body: received });
        else unpacked(received, reply, maxBytes).then(resolve, reject);
      },
      onResponseError: (_controller, error) => fail(networkError(error)),
    },
  );
  return promise;
}

function timedOut(message: string): FetchError {
  return new FetchError(message, { isTemporary: true, isTimeout: true });
}

async function unpacked(packed: Buffer, reply: Omit<FetchReply, 'body'>, maxBytes: number): Promise<FetchReply> {
  const encoding = reply.headers['content-encoding'] ?? '';
  const result = await unpackBody(packed, encoding, maxBytes);
  if (result.ok) return { ...reply, body: result.body };
  if (result.fault === 'too large') throw tooLarge(maxBytes);
  if (result.fault === 'broken') throw new FetchError(`was sent as broken ${encoding}`, { isTemporary: true });
  throw new FetchError(`was sent as '${encoding}', which was not requested`, { isTemporary: false });
}

export function plainHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
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
