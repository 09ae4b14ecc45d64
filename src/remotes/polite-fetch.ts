// Fetching from somebody else's host: a few requests at a time, again when it may help, and not while the host asked for a pause.
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit, { type LimitFunction } from 'p-limit';
import { FetchError } from '../lib/fetch.ts';
import type { Fetch, FetchReply, FetchRequest } from '../lib/world.ts';

export interface PoliteFetchOptions {
  fetch: Fetch;
  requestsPerHost: number;
  /** Tells how long to wait before a further try; tests make it short. */
  backoffMs?: (attempt: number) => number;
}

const MOST_TRIES = 4;
const LONGEST_PAUSE_MS = 120_000;

interface Host {
  limit: LimitFunction;
  pausedUntil: number;
}

export function createPoliteFetch({ fetch, requestsPerHost, backoffMs = jitteredBackoff }: PoliteFetchOptions): Fetch {
  const hosts = new Map<string, Host>();

  function hostNamed(name: string): Host {
    const host = hosts.get(name) ?? { limit: pLimit(requestsPerHost), pausedUntil: 0 };
    hosts.set(name, host);
    return host;
  }

  /** A catalog may name a new host with every manifest. */
  function forgetIfIdle(name: string, { limit, pausedUntil }: Host): void {
    if (limit.activeCount + limit.pendingCount === 0 && pausedUntil <= Date.now()) hosts.delete(name);
  }

  async function fetchInTurn(host: Host, request: FetchRequest): Promise<FetchReply> {
    for (let attempt = 1; ; attempt += 1) {
      const pauseMs = host.pausedUntil - Date.now();
      if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: request.signal });
      const outcome = await tryOnce(fetch, request);
      if (!isTemporary(outcome) || attempt === MOST_TRIES) return settle(outcome);
      // The pause is for everybody who wants something of the host, the backoff for this request.
      host.pausedUntil = Math.max(host.pausedUntil, Date.now() + retryAfterMs(outcome));
      await sleep(backoffMs(attempt), undefined, { signal: request.signal });
    }
  }

  return async (request) => {
    const name = URL.parse(request.url)?.host;
    if (name === undefined) throw new FetchError('is no readable address', { isTemporary: false });
    const host = hostNamed(name);
    try {
      return await host.limit(() => fetchInTurn(host, request));
    } finally {
      forgetIfIdle(name, host);
    }
  };
}

async function tryOnce(fetch: Fetch, request: FetchRequest): Promise<FetchReply | FetchError> {
  try {
    return await fetch(request);
  } catch (error) {
    if (error instanceof FetchError) return error;
    throw error;
  }
}

function settle(outcome: FetchReply | FetchError): FetchReply {
  if (outcome instanceof FetchError) throw outcome;
  return outcome;
}

/** 429, 5xx and network errors pass; every other answer stays what it is. */
function isTemporary(outcome: FetchReply | FetchError): boolean {
  return outcome instanceof FetchError ? outcome.isTemporary : outcome.status === 429 || outcome.status >= 500;
}

/** RFC 9110: seconds or a date. */
function retryAfterMs(outcome: FetchReply | FetchError): number {
  const value = outcome instanceof FetchError ? undefined : outcome.headers['retry-after'];
  if (value === undefined) return 0;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : new Date(value).getTime() - Date.now();
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), LONGEST_PAUSE_MS);
}

function jitteredBackoff(attempt: number): number {
  return 500 * 2 ** (attempt - 1) * (0.5 + Math.random());
}
