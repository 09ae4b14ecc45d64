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

export function createPoliteFetch({ fetch, requestsPerHost, backoffMs = jitteredBackoff }: PoliteFetchOptions): Fetch {
  const hosts = new Map<string, { limit: LimitFunction; pausedUntil: number }>();

  function hostOf(url: string): { limit: LimitFunction; pausedUntil: number } {
    const { host } = new URL(url);
    const known = hosts.get(host) ?? { limit: pLimit(requestsPerHost), pausedUntil: 0 };
    hosts.set(host, known);
    return known;
  }

  return async (request) => {
    if (!URL.canParse(request.url)) throw new FetchError('is no readable address', { isTemporary: false });
    const host = hostOf(request.url);
    return host.limit(async () => {
      for (let attempt = 1; ; attempt += 1) {
        const pauseMs = host.pausedUntil - Date.now();
        if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: request.signal });
        const outcome = await tryOnce(fetch, request);
        if (!isTemporary(outcome) || attempt === MOST_TRIES) return settle(outcome);
        const wait = retryAfterMs(outcome);
        if (wait !== undefined) host.pausedUntil = Math.max(host.pausedUntil, Date.now() + wait);
        else await sleep(backoffMs(attempt), undefined, { signal: request.signal });
      }
    });
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
function retryAfterMs(outcome: FetchReply | FetchError): number | undefined {
  const value = outcome instanceof FetchError ? undefined : outcome.headers['retry-after'];
  if (value === undefined) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : new Date(value).getTime() - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_PAUSE_MS);
}

function jitteredBackoff(attempt: number): number {
  return 500 * 2 ** (attempt - 1) * (0.5 + Math.random());
}
