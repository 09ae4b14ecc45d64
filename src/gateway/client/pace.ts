// Paces calls to the gateway: slower as its rate limit approaches, and none while it asks for a pause.
import type { FetchReply } from '../../lib/world.ts';

export interface Pace {
  /** Waits for this call's turn. */
  turn(signal?: AbortSignal): Promise<void>;
  /** Learns from an answer. */
  heed(reply: FetchReply): void;
  /** For how long no call must be made; 0 when one may. */
  pauseMs(): number;
}

export interface PaceOptions {
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Milliseconds that never go backwards. */
  clock: () => number;
}

/** Calls of the gateway's minute that are left to its other callers, and to those of ours that are under way. */
const LEFT_TO_OTHERS = 10;
/** The gateway's limit is over a sliding minute; a little more, because its clock starts when a call arrives. */
const WINDOW_MS = 61_000;
const DEFAULT_RETRY_AFTER_MS = 60_000;

export function createPace({ sleep, clock }: PaceOptions): Pace {
  /** When calls were made, or will be; oldest first. */
  let made: number[] = [];
  /** Unlimited until the gateway tells its limit. */
  let mostInWindow = Number.POSITIVE_INFINITY;
  let closedUntil = 0;

  const recent = () => made.filter((at) => at > clock() - WINDOW_MS);

  return {
    async turn(signal) {
      made = recent();
      const now = clock();
      // The place in the queue is taken at once: callers that wait together do not start together.
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
      // Each call after a 429 makes it more likely that the gateway locks the hub out.
      if (status === 429) closedUntil = Math.max(closedUntil, clock() + retryAfterMs(headers));
    },
    pauseMs: () => Math.max(0, closedUntil - clock()),
  };
}

export function retryAfterMs(headers: FetchReply['headers']): number {
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : DEFAULT_RETRY_AFTER_MS;
}
