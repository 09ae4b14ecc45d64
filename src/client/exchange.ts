// One request to a hub and its answer: the token, the time limit, and what refusals mean.

import { HubError, UnreachableError } from '../errors.ts';
import { writeValues } from '../lib/value-list.ts';
import { connectionFault, RefusedError, readProblem } from './hub-errors.ts';

export interface HubClientOptions {
  /** Address of the hub, with the path that it is under, if there is one. */
  url: string;
  /** The hub's API_TOKEN, or another token of the hub. */
  token?: string;
  /**
   * Asked when the hub wants a token, or refuses the one it gets: once for a call, and once for all calls that wait for
   * it at the same time. A caller that gives none is not asked again.
   */
  onUnauthorized?: () => Promise<string | undefined>;
  /** For an ordinary call, and for the silence within a long one. */
  timeoutMs?: number;
  /** Ends everything that is under way. What the hub has begun, it goes on with. */
  signal?: AbortSignal;
  /** Instead of the global one. */
  fetch?: typeof globalThis.fetch;
}

export interface HubRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string | number | boolean | readonly string[] | undefined>;
  body?: unknown;
  accept?: string;
}

/** An answer with what keeps its time: to be touched whenever something arrives, and ended. */
export interface HubResponse {
  response: Response;
  /** Whether a token went with the request. */
  hadToken: boolean;
  touch(): void;
  end(): void;
  /** What a failure while the body is read means. */
  fault(error: unknown): Error;
}

export interface Exchange {
  /** Only answers of success, and those that `isAnswer` names. @throws RefusedError, UnreachableError */
  send(request: HubRequest, isAnswer?: (response: Response) => boolean): Promise<HubResponse>;
  readonly url: string;
}

const TIMEOUT_MS = 60_000;

/** @throws TypeError when the address cannot be a hub's. */
export function createExchange(options: HubClientOptions): Exchange {
  const url = hubAddress(options.url);
  const { fetch = globalThis.fetch, timeoutMs = TIMEOUT_MS, signal } = options;
  let token = checkedToken(options.token);
  let question: Promise<boolean> | undefined;

  async function attempt(request: HubRequest): Promise<HubResponse> {
    const clock = idleClock(timeoutMs, signal);
    const hadToken = token !== undefined;
    const fault = (error: unknown) => {
      clock.end();
      if (signal?.aborted)
        return new UnreachableError(url, 'did not answer before the call was aborted', { cause: error });
      if (clock.isLate()) return new UnreachableError(url, `did not answer within ${timeoutMs / 1000} s`);
      return new UnreachableError(url, connectionFault(error), { cause: error });
    };
    try {
      const response = await fetch(`${url}${request.path}${queryString(request.query)}`, {
        method: request.method ?? 'GET',
        headers: {
          accept: request.accept ?? 'application/json',
          ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        body: request.body === undefined ? undefined : JSON.stringify(request.body),
        // Redirects are not followed, so that the token is sent to no other address.
        redirect: 'manual',
        signal: clock.signal,
      });
      return { response, hadToken, touch: clock.touch, end: clock.end, fault };
    } catch (error) {
      throw fault(error);
    }
  }

  async function send(request: HubRequest, isAnswer: (response: Response) => boolean = ({ ok }) => ok) {
    const refusedToken = token;
    const answered = await attempt(request);
    if (isAnswer(answered.response)) return answered;
    const refusal = await readRefusal(url, answered);
    if (!isUnauthorized(refusal) || !(await askedForToken(refusedToken))) throw refusal;
    const again = await attempt(request);
    if (isAnswer(again.response)) return again;
    throw await readRefusal(url, again);
  }

  /** Whether there is another token than the one that was refused. */
  async function askedForToken(refusedToken: string | undefined): Promise<boolean> {
    if (token !== refusedToken) return true;
    question ??= askForToken();
    return question;
  }

  async function askForToken(): Promise<boolean> {
    const given = await options.onUnauthorized?.();
    if (!given?.trim()) return false;
    question = undefined;
    token = givenToken(given);
    return true;
  }

  return { send, url };
}

/** Without a slash at its end. */
function hubAddress(address: string): string {
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new TypeError(`'${address}' is not the address of a hub: it must start with http:// or https://.`);
  if (url.username || url.password)
    throw new TypeError('The address of a hub must not contain a user name or a password; pass the token separately.');
  if (url.search || url.hash) throw new TypeError(`'${address}' must not have a query or a fragment.`);
  return url.href.replace(/\/+$/, '');
}

function checkedToken(token: string | undefined): string | undefined {
  const trimmed = token?.trim();
  if (!trimmed) return undefined;
  if (!/^[\x21-\x7e]+$/.test(trimmed))
    throw new TypeError('The token must consist of visible ASCII characters without spaces, like API_TOKEN.');
  return trimmed;
}

/** @throws HubError as if the hub had refused it. */
function givenToken(given: string): string | undefined {
  try {
    return checkedToken(given);
  } catch (error) {
    throw new HubError('unauthorized', (error as TypeError).message, { cause: error });
  }
}

function queryString(query: HubRequest['query'] = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const text = Array.isArray(value) ? writeValues(value.map(String)) : String(value ?? '');
    if (text !== '') parameters.set(name, text);
  }
  return parameters.size > 0 ? `?${parameters}` : '';
}

/** Runs out when nothing happens for so long. */
function idleClock(timeoutMs: number, outer: AbortSignal | undefined) {
  const controller = new AbortController();
  let isLate = false;
  let timer: ReturnType<typeof setTimeout>;
  const touch = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isLate = true;
      controller.abort();
    }, timeoutMs);
  };
  const onAbort = () => controller.abort();
  if (outer?.aborted) controller.abort();
  outer?.addEventListener('abort', onAbort, { once: true });
  touch();
  return {
    signal: controller.signal,
    touch,
    isLate: () => isLate,
    end() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', onAbort);
    },
  };
}

function isUnauthorized(error: Error): boolean {
  return error instanceof RefusedError && error.status === 401;
}

async function readRefusal(url: string, { response, hadToken, end, fault }: HubResponse): Promise<Error> {
  const { status, headers } = response;
  const location = headers.get('location');
  try {
    const text = await response.text();
    const isProblem = /^application\/problem\+json\b/i.test(headers.get('content-type') ?? '');
    const problem = isProblem ? readProblem(text) : undefined;
    // The hub says how a token is sent, which does not help a caller that sent one.
    const refusedToken = status === 401 && hadToken ? { detail: `The hub at ${url} refused the token.` } : {};
    if (problem) return new RefusedError({ ...problem, ...refusedToken }, response);
  } catch (error) {
    return fault(error);
  } finally {
    end();
  }
  if (status === 401 || status === 403) {
    const detail = `A proxy in front of the hub at ${url} requires credentials (${status}).`;
    return new RefusedError({ code: 'unauthorized', detail }, response);
  }
  const elsewhere = location === null ? null : URL.parse(location, url);
  if (elsewhere) return new UnreachableError(url, `redirects to ${elsewhere.href}; use that address`);
  return new UnreachableError(url, `answered ${status}, but not like a hub (is this the right address?)`);
}
