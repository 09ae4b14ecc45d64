// The rate limit: a sliding window per tier, and a lockout for callers that ignore it.
import type { Answer } from './generations.ts';

export interface RateLimit {
  /** For unversioned paths. */
  limit: number;
  versionedLimit: number;
  windowMs: number;
  retryAfterSec: number;
  violationsBeforeLockout: number;
  lockoutSec: number;
}

export const REAL_RATE_LIMIT: RateLimit = {
  limit: 100,
  versionedLimit: 500,
  windowMs: 60_000,
  retryAfterSec: 60,
  violationsBeforeLockout: 5,
  lockoutSec: 900,
};

export function createLimiter(rate: RateLimit | undefined) {
  const times = { versioned: [] as number[], unversioned: [] as number[] };
  let violations = 0;

  /** Headers for the response, or the refusal. */
  return (isVersioned: boolean): { headers: Record<string, string>; refusal?: Answer } => {
    if (!rate) return { headers: {} };
    const { limit: few, versionedLimit, windowMs, retryAfterSec, violationsBeforeLockout, lockoutSec } = rate;
    const limit = isVersioned ? versionedLimit : few;
    const tier = isVersioned ? 'versioned' : 'unversioned';
    times[tier] = times[tier].filter((at) => performance.now() - at < windowMs);
    if (violations >= violationsBeforeLockout) {
      const body = { error: 'Account locked', message: 'Too many rate limit violations.' };
      return { headers: {}, refusal: { status: 429, body, headers: { 'retry-after': String(lockoutSec) } } };
    }
    const headers = {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(Math.max(0, limit - times[tier].length - 1)),
    };
    if (times[tier].length < limit) {
      times[tier].push(performance.now());
      return { headers };
    }
    violations += 1;
    const message = `Maximum ${limit} requests per minute for MEDIUM tier endpoints.`;
    const body = { error: 'Rate limit exceeded', message, limit, reset_in_seconds: retryAfterSec };
    return { headers, refusal: { status: 429, body, headers: { ...headers, 'retry-after': String(retryAfterSec) } } };
  };
}
