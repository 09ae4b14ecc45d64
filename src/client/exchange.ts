// One request to a hub and its response: the token, the time limit, and the meaning of refusals.

import { HubError, UnreachableError } from '../errors.ts';
import { connectionFault } from '../lib/net/connection-fault.ts';
import { writeValues } from '../lib/value-list.ts';
import { RefusedError, readProblem } from './hub-errors.ts';

export interface HubClientOptions {
  /** Address of the hub, including its base path, if any. */
  url: string;
  /** The hub's API_TOKEN, or another token that the hub has issued. */
  token?: string;
  /**
   * Called when the hub requires a token or refuses the current one: at most once per call, and once for all concurrent
   * calls. If it resolves to undefined, it is not called again.
   */
  onUnauthorized?: () => Promise<string | undefined>;
  /** Limit for an ordinary call, and for the idle time within a long one. */
  timeoutMs?: number;
  /** Aborts all requests in flight. The hub still finishes work that it has started. */
  signal?: AbortSignal;
  /** Replaces the global `fetch`. */
  fetch?: typeof globalThis.fetch;
}

export interface HubRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string | number | boolean | readonly string[] | undefined>;
  body?: unknown;
  accept?: string;
}

/** A response with its idle timer: call `touch` when data arrives, and `end` when done. */
export interface HubResponse {
  response: Response;
  /** Whether the request contained a token. */
  hadToken: boolean;
  touch(): void;
  end(): void;
  /** Converts an error of reading the body. */
  fault(error: unknown): Error;
}

export interface Exchange {
  /** Resolves for successful responses and those that `isAnswer` accepts. @throws RefusedError, UnreachableError */
  send(request: HubRequest, isAnswer?: (response: Response) => boolean): Promise<HubResponse>;
  readonly url: string;
}

const TIMEOUT_MS = 60_000;

/** @throws TypeError if the address is malformed. */
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
        // Redirects are not followed, so that the token is never sent to another address.
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

  /** Whether a token other than the refused one is available. */
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

/** Removes trailing slashes. @throws TypeError */
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

/** @throws HubError `unauthorized`, as if the hub had refused the token. */
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

/** Aborts after this time without a `touch`. */
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
    // The hub's message explains how to send a token, which does not help a caller that sent one.
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
