// How fast the gateway may be called: slower before its limit is reached, and not at all once it said so.
import type { FetchReply } from '../lib/world.ts';

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

/** Below this many calls left in the gateway's minute, the hub slows down. */
const FEW_CALLS_LEFT = 10;
/** The limit is over a sliding minute: the few that are left last until the first ones no longer count. */
const SLOW_GAP_MS = 60_000 / FEW_CALLS_LEFT;
const DEFAULT_RETRY_AFTER_MS = 60_000;

export function createPace({ sleep, clock }: PaceOptions): Pace {
  let gapMs = 0;
  let nextTurnAt = 0;
  let closedUntil = 0;

  return {
    async turn(signal) {
      if (gapMs === 0) return;
      // One queue for all callers: together they must not be faster than one of them may be.
      const at = Math.max(clock(), nextTurnAt);
      nextTurnAt = at + gapMs;
      if (at > clock()) await sleep(at - clock(), signal);
    },
    heed({ status, headers }) {
      const isScarce = Number(headers['x-ratelimit-remaining'] ?? Number.POSITIVE_INFINITY) < FEW_CALLS_LEFT;
      if (isScarce && gapMs === 0) nextTurnAt = clock() + SLOW_GAP_MS;
      gapMs = isScarce ? SLOW_GAP_MS : 0;
      // Each call that is made in spite of a 429 brings the gateway nearer to locking the hub out.
      if (status === 429) closedUntil = Math.max(closedUntil, clock() + retryAfterMs(headers));
    },
    pauseMs: () => Math.max(0, closedUntil - clock()),
  };
}

export function retryAfterMs(headers: FetchReply['headers']): number {
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : DEFAULT_RETRY_AFTER_MS;
}
