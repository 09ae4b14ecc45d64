// Fetching from somebody else's host: a few requests at a time, again when it may help, and not while the host asked for a pause.
import { setTimeout as sleep } from 'node:timers/promises';
import { FetchError } from '../lib/fetch-error.ts';
import type { Fetch, FetchReply } from '../lib/world.ts';

export interface PoliteFetchOptions {
  fetch: Fetch;
  requestsPerHost: number;
  /** Tells how long to wait before a further try; tests make it short. */
  backoffMs?: (attempt: number) => number;
}

const MOST_TRIES = 4;
const LONGEST_PAUSE_MS = 120_000;

interface Host {
  underWay: number;
  /** Each begins when its turn comes. */
  waiting: (() => void)[];
  pausedUntil: number;
}

export function createPoliteFetch({ fetch, requestsPerHost, backoffMs = jitteredBackoff }: PoliteFetchOptions): Fetch {
  const hosts = new Map<string, Host>();
  const nameOf = hostNames();

  function hostNamed(name: string): Host {
    const host = hosts.get(name) ?? { underWay: 0, waiting: [], pausedUntil: 0 };
    hosts.set(name, host);
    return host;
  }

  /** A catalog may name a new host with every manifest. */
  function endTurn(name: string, host: Host): void {
    const next = host.waiting.shift();
    if (next) next();
    else host.underWay -= 1;
    if (host.underWay === 0 && host.pausedUntil <= Date.now()) hosts.delete(name);
  }

  return async (request) => {
    const name = nameOf(request.url);
    const host = hostNamed(name);
    if (host.underWay < requestsPerHost) host.underWay += 1;
    else await new Promise<void>((begin) => host.waiting.push(begin));
    try {
      for (let attempt = 1; ; attempt += 1) {
        const pauseMs = host.pausedUntil - Date.now();
        if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: request.signal });
        let outcome: FetchReply | FetchError;
        try {
          outcome = await fetch(request);
        } catch (error) {
          if (!(error instanceof FetchError)) throw error;
          outcome = error;
        }
        if (!isTemporary(outcome) || attempt === MOST_TRIES) return settle(outcome);
        // The pause is for everybody who wants something of the host, the backoff for this request.
        host.pausedUntil = Math.max(host.pausedUntil, Date.now() + retryAfterMs(outcome));
        await sleep(backoffMs(attempt), undefined, { signal: request.signal });
      }
    } finally {
      endTurn(name, host);
    }
  };
}

/** Addresses of one catalog are mostly of one host, and to take each apart costs more than to look at its beginning. */
function hostNames(): (url: string) => string {
  let last = { start: '', name: '' };
  return (url) => {
    if (last.start !== '' && url.startsWith(last.start)) return last.name;
    const parsed = URL.parse(url);
    if (!parsed) throw new FetchError('is no readable address', { isTemporary: false });
    last = { start: `${parsed.origin}/`, name: parsed.host };
    return last.name;
  };
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
