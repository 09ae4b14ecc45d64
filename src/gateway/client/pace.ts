// Paces calls to the gateway: slows down near its rate limit, and stops while it asks for a pause.
import { retryAfterMs } from '../../lib/net/retry-after.ts';
import type { FetchReply } from '../../lib/world.ts';

export interface Pace {
  /** Resolves when this call may start. */
  turn(signal?: AbortSignal): Promise<void>;
  /** Adapts to the rate limit headers of a response. */
  heed(reply: FetchReply): void;
  /** How long no call may be made; 0 if one may. */
  pauseMs(): number;
}

export interface PaceOptions {
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** A monotonic clock, in milliseconds. */
  clock: () => number;
}

/** Calls per minute that are reserved for other clients, and for our calls in flight. */
const LEFT_TO_OTHERS = 10;
/** The gateway's limit is a sliding minute; slightly longer, because its clock starts when a call arrives. */
const WINDOW_MS = 61_000;
const DEFAULT_PAUSE_MS = 60_000;

export function createPace({ sleep, clock }: PaceOptions): Pace {
  /** Past and scheduled calls, oldest first. */
  let made: number[] = [];
  /** Unlimited until the gateway reports its limit. */
  let mostInWindow = Number.POSITIVE_INFINITY;
  let closedUntil = 0;

  const recent = () => made.filter((at) => at > clock() - WINDOW_MS);

  return {
    async turn(signal) {
      made = recent();
      const now = clock();
      // Reserves a slot at once, so that waiting callers do not start together.
      const at = made.length < mostInWindow ? now : Math.max(now, (made.at(-mostInWindow) ?? now) + WINDOW_MS);
      made.push(at);
      if (at > now) await sleep(at - now, signal);
    },
    heed({ status, headers }) {
      const limit = Number(headers['x-ratelimit-limit'] ?? Number.NaN);
      const remaining = Number(headers['x-ratelimit-remaining'] ?? Number.NaN);
      if (limit > 0 && remaining >= 0) {
        const byOthers = Math.max(0, limit - remaining - recent().length);
        mostInWindow = Math.max(1, limit - byOthers - LEFT_TO_OTHERS);
      }
      // Each call after a 429 makes it more likely that the gateway locks out the hub.
      if (status === 429) closedUntil = Math.max(closedUntil, clock() + requestedPauseMs(headers));
    },
    pauseMs: () => Math.max(0, closedUntil - clock()),
  };
}

export function requestedPauseMs(headers: FetchReply['headers']): number {
  return retryAfterMs(headers['retry-after']) ?? DEFAULT_PAUSE_MS;
}
