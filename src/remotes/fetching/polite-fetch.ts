// Fetches from other people's hosts: few concurrent requests, retries where they may help, and a total time limit.
import { setTimeout as sleep } from 'node:timers/promises';
import { FetchError } from '../../lib/net/fetch-error.ts';
import { retryAfterMs } from '../../lib/net/retry-after.ts';
import type { Fetch, FetchReply, FetchRequest } from '../../lib/world.ts';
import { type Host, HostSlots } from './host-slots.ts';

export interface PoliteFetchOptions {
  fetch: Fetch;
  requestsPerHost: number;
  /** Delay before the next attempt. Tests make it short. */
  backoffMs?: (attempt: number) => number;
}

const MOST_TRIES = 4;
/** Upper bound for remembering a host's `Retry-After`. */
const LONGEST_MEMORY_MS = 3_600_000;
/** Time limits are rounded to this, so that messages show round numbers. Clocks agree within it. */
const TIME_STEP_MS = 100;

/** How a host responds to the requests of one task. */
interface Health {
  /** Time of the last usable response. */
  answeredAt: number;
  /** Undefined if no request has failed since the last usable response. */
  silentSince: number | undefined;
  /** Time of the last failure since then. */
  failedAt: number;
}

interface Task {
  host: Host;
  request: FetchRequest;
  /** Sends the request once. */
  fetch: Fetch;
  backoffMs: (attempt: number) => number;
  /** Health by host name. */
  health: Map<string, Health>;
  startedAt: number;
  /** Covers all attempts and the time between them. */
  deadline: number;
}

/**
 * The `timeoutMs` of a request covers all its attempts, starting when its host has a free slot. A request that cannot
 * succeed in time fails at once.
 */
export function createPoliteFetch({ fetch, requestsPerHost, backoffMs = jitteredBackoff }: PoliteFetchOptions): Fetch {
  const slots = new HostSlots(requestsPerHost);
  /** Requests with the same signal are one task: a host that was given up in one task is tried again in the next. */
  const healthOf = new WeakMap<AbortSignal, Map<string, Health>>();
  const nameOf = hostNames();

  return async (request) => {
    const { url, signal, timeoutMs } = request;
    const name = nameOf(url);
    if (name === undefined) throw new FetchError('is not a valid address', { isTemporary: false });
    const host = await slots.take(name, signal);
    const health = (signal && healthOf.get(signal)) ?? new Map<string, Health>();
    if (signal) healthOf.set(signal, health);
    const startedAt = Date.now();
    try {
      const deadline = startedAt + timeoutMs;
      return await withRetries({ host, request, fetch, backoffMs, health, startedAt, deadline });
    } finally {
      slots.release(host);
    }
  };
}

async function withRetries(task: Task): Promise<FetchReply> {
  const { host, request, backoffMs, health, deadline } = task;
  if (isGivenUp(task)) throw notRequested('its host sent no usable response to earlier requests');
  for (let attempt = 1; ; attempt += 1) {
    await pauseOver(task);
    const outcome = await tryOnce(task);
    if (!isTemporary(outcome)) {
      health.set(host.name, { answeredAt: Date.now(), silentSince: undefined, failedAt: 0 });
      return settle(outcome);
    }
    // The pause applies to all requests to the host; the backoff only to this one.
    host.pausedUntil = Math.max(host.pausedUntil, Date.now() + requestedPauseMs(outcome));
    const waitMs = backoffMs(attempt);
    if (attempt === MOST_TRIES || Date.now() + waitMs >= deadline || isPausedBeyond(task)) {
      noteFailure(task);
      return settle(isPausedBeyond(task) ? pausedError(host, outcome) : outcome);
    }
    await sleep(waitMs, undefined, { signal: request.signal });
  }
}

async function tryOnce({ fetch, request, deadline }: Task): Promise<FetchReply | FetchError> {
  const timeLeftMs = Math.max(deadline - Date.now(), 1);
  try {
    return await fetch({ ...request, timeoutMs: Math.ceil(timeLeftMs / TIME_STEP_MS) * TIME_STEP_MS });
  } catch (error) {
    if (error instanceof FetchError) return error;
    throw error;
  }
}

const UNKNOWN: Health = { answeredAt: 0, silentSince: undefined, failedAt: 0 };

/** A host without a usable response for a full request timeout is unlikely to answer the next request. */
function isGivenUp({ host, health, request }: Task): boolean {
  const { silentSince, failedAt } = health.get(host.name) ?? UNKNOWN;
  return silentSince !== undefined && failedAt - silentSince >= request.timeoutMs - TIME_STEP_MS;
}

function noteFailure({ host, health, startedAt }: Task): void {
  const { answeredAt, silentSince } = health.get(host.name) ?? UNKNOWN;
  const since = silentSince ?? Math.max(startedAt, answeredAt);
  health.set(host.name, { answeredAt, silentSince: since, failedAt: Date.now() });
}

function isPausedBeyond({ host, deadline }: Task): boolean {
  return host.pausedUntil > Date.now() && host.pausedUntil >= deadline;
}

/** @throws FetchError if the pause does not end in time. */
async function pauseOver(task: Task): Promise<void> {
  const { host, request } = task;
  if (isPausedBeyond(task)) throw pausedError(host);
  const pauseMs = host.pausedUntil - Date.now();
  if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: request.signal });
}

/** `outcome` is the host's last response. */
function pausedError({ pausedUntil }: Host, outcome?: FetchReply | FetchError): FetchError {
  const pause = `a pause of ${inWords(pausedUntil - Date.now())}`;
  if (!outcome || outcome instanceof FetchError) return notRequested(`its host asks for ${pause}`);
  return new FetchError(`answered ${outcome.status} and asks for ${pause}`, { isTemporary: true });
}

function inWords(ms: number): string {
  const seconds = Math.max(Math.ceil(ms / 1000), 1);
  const [count, unit] = seconds < 60 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

function notRequested(reason: string): FetchError {
  return new FetchError(`was not requested: ${reason}`, { isTemporary: true });
}

/**
 * Returns the host of an address, or undefined for an invalid one. Most addresses of a catalog share a host, and comparing
 * the prefix is cheaper than parsing.
 */
export function hostNames(): (url: string) => string | undefined {
  let last = { start: '', name: '' };
  return (url) => {
    if (last.start !== '' && url.startsWith(last.start)) return last.name;
    const parsed = URL.parse(url);
    if (!parsed) return undefined;
    last = { start: `${parsed.origin}/`, name: parsed.host };
    return last.name;
  };
}

function settle(outcome: FetchReply | FetchError): FetchReply {
  if (outcome instanceof FetchError) throw outcome;
  return outcome;
}

/** 429, 5xx and network errors may be temporary; all other responses are final. */
function isTemporary(outcome: FetchReply | FetchError): boolean {
  return outcome instanceof FetchError ? outcome.isTemporary : outcome.status === 429 || outcome.status >= 500;
}

function requestedPauseMs(outcome: FetchReply | FetchError): number {
  const value = outcome instanceof FetchError ? undefined : outcome.headers['retry-after'];
  return Math.min(retryAfterMs(value) ?? 0, LONGEST_MEMORY_MS);
}

function jitteredBackoff(attempt: number): number {
  return 500 * 2 ** (attempt - 1) * (0.5 + Math.random());
}
