// Fetching from somebody else's host: a few requests at a time, again when it may help, and not while the host asked for a pause.
import { setTimeout as sleep } from 'node:timers/promises';
import { FetchError } from '../lib/fetch-error.ts';
import { onceAborted } from '../lib/once-aborted.ts';
import type { Fetch, FetchReply, FetchRequest } from '../lib/world.ts';

export interface PoliteFetchOptions {
  fetch: Fetch;
  requestsPerHost: number;
  /** Tells how long to wait before a further try; tests make it short, and the times before a host is given up. */
  backoffMs?: (attempt: number) => number;
  patienceMs?: number;
  longestPauseMs?: number;
}

const MOST_TRIES = 4;
/** A longer one is not waited for, nor are several after each other without an answer between them: others would wait with it. */
const LONGEST_PAUSE_MS = 120_000;
/** How long the wish of a host is remembered at most. */
const LONGEST_MEMORY_MS = 3_600_000;
/**
 * A host is given up after so many requests in a row without an answer that could be used, each with all its tries, and not
 * before so long: who starts anew, as hosts do, is back by then, and who is dead does not keep others waiting for long.
 */
const MOST_FAILURES = 4;
const PATIENCE_MS = 30_000;
/** A catalog may name a new host with every manifest. */
const MOST_HOSTS = 10_000;

interface Host {
  underWay: number;
  /** Each begins when its turn comes. */
  waiting: (() => void)[];
  pausedUntil: number;
}

/** Of a host, since it last gave an answer that could be used. */
interface Failures {
  since: number;
  /** Requests, not tries. */
  count: number;
}

export function createPoliteFetch({
  fetch,
  requestsPerHost,
  backoffMs = jitteredBackoff,
  patienceMs = PATIENCE_MS,
  longestPauseMs = LONGEST_PAUSE_MS,
}: PoliteFetchOptions): Fetch {
  const hosts = new Map<string, Host>();
  /** Requests that share a signal are one piece of work: a host that is given up in it is asked again in the next. */
  const failuresOf = new WeakMap<AbortSignal, Map<string, Failures>>();
  const nameOf = hostNames();

  function hostNamed(name: string): Host {
    const host = hosts.get(name) ?? { underWay: 0, waiting: [], pausedUntil: 0 };
    if (hosts.size >= MOST_HOSTS) forgetResting();
    hosts.set(name, host);
    return host;
  }

  function forgetResting(): void {
    for (const [name, { underWay }] of hosts) if (underWay === 0) hosts.delete(name);
  }

  /** Rejects when the signal is aborted first. */
  function turn(host: Host, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const begin = () => {
      stopListening?.();
      resolve();
    };
    host.waiting.push(begin);
    const stopListening =
      signal &&
      onceAborted(signal, () => {
        host.waiting = host.waiting.filter((each) => each !== begin);
        reject(signal.reason);
      });
    return promise;
  }

  function endTurn(name: string, host: Host): void {
    const next = host.waiting.shift();
    if (next) next();
    else host.underWay -= 1;
    if (host.underWay === 0 && host.pausedUntil <= Date.now()) hosts.delete(name);
  }

  function failuresBeside({ signal }: FetchRequest): Map<string, Failures> {
    const failures = (signal && failuresOf.get(signal)) ?? new Map<string, Failures>();
    if (signal) failuresOf.set(signal, failures);
    return failures;
  }

  function isGivenUp(failures: Failures | undefined): boolean {
    return failures !== undefined && failures.count >= MOST_FAILURES && Date.now() - failures.since >= patienceMs;
  }

  function wantsLongPause({ pausedUntil }: Host, failures: Failures | undefined): boolean {
    const now = Date.now();
    return pausedUntil > now && pausedUntil - (failures?.since ?? now) > longestPauseMs;
  }

  return async (request) => {
    const name = nameOf(request.url);
    const host = hostNamed(name);
    if (host.underWay < requestsPerHost) host.underWay += 1;
    else await turn(host, request.signal);
    const failuresOfHosts = failuresBeside(request);
    const startedAt = Date.now();
    try {
      if (isGivenUp(failuresOfHosts.get(name)))
        throw notAsked('its host gave no usable answer to the requests before it');
      for (let attempt = 1; ; attempt += 1) {
        const pauseMs = host.pausedUntil - Date.now();
        if (wantsLongPause(host, failuresOfHosts.get(name)))
          throw notAsked(`its host wants a pause of ${Math.ceil(pauseMs / 60_000)} minutes`);
        if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: request.signal });
        let outcome: FetchReply | FetchError;
        try {
          outcome = await fetch(request);
        } catch (error) {
          if (!(error instanceof FetchError)) throw error;
          outcome = error;
        }
        if (!isTemporary(outcome)) {
          failuresOfHosts.delete(name);
          return settle(outcome);
        }
        // The pause is for everybody who wants something of the host, the backoff for this request.
        host.pausedUntil = Math.max(host.pausedUntil, Date.now() + retryAfterMs(outcome));
        const failures = failuresOfHosts.get(name) ?? { since: startedAt, count: 0 };
        failuresOfHosts.set(name, failures);
        if (attempt === MOST_TRIES) failures.count += 1;
        const isEnough = attempt === MOST_TRIES || isGivenUp(failures) || wantsLongPause(host, failures);
        if (isEnough) return settle(outcome);
        await sleep(backoffMs(attempt), undefined, { signal: request.signal });
      }
    } finally {
      endTurn(name, host);
    }
  };
}

function notAsked(reason: string): FetchError {
  return new FetchError(`was not asked for: ${reason}`, { isTemporary: true });
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
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), LONGEST_MEMORY_MS);
}

function jitteredBackoff(attempt: number): number {
  return 500 * 2 ** (attempt - 1) * (0.5 + Math.random());
}
