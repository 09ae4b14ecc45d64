// Pauses that the gateway requests; each applies to all running calls.

import type { GatewayKind, GatewayLookup, GatewayRows } from '../items/lookup.ts';
import { gatewayUnusable } from '../registration/outcome.ts';

export interface Pauses {
  /** Resolves when no pause is active. */
  over(): Promise<void>;
  /** Returns whether to wait for the pause and repeat the call. */
  begin(ms: number | undefined): boolean;
  /** Called after a success, which shows that pauses help. */
  reset(): void;
}

/** A longer pause ends the sync. */
const LONGEST_PAUSE_MS = 120_000;
/** After this many pauses without a success, further ones are pointless. */
const MOST_PAUSES_IN_A_ROW = 5;

export function createPauses(sleep: (ms: number, signal: AbortSignal) => Promise<void>, signal: AbortSignal): Pauses {
  let pause: Promise<void> | undefined;
  let inARow = 0;
  return {
    over: async () => pause,
    reset() {
      inARow = 0;
    },
    begin(ms) {
      if (ms === undefined || ms > LONGEST_PAUSE_MS || signal.aborted) return false;
      if (pause) return true;
      inARow += 1;
      if (inARow > MOST_PAUSES_IN_A_ROW) return false;
      pause = sleep(ms, signal)
        .catch(() => {})
        .finally(() => {
          pause = undefined;
        });
      return true;
    },
  };
}

export interface KindOfRows {
  rows: GatewayRows;
  isComplete: boolean;
}

/** Without `pauses`, a requested pause ends the listing. */
export async function listed(
  kind: GatewayKind,
  { lookup, pauses }: { lookup: GatewayLookup; pauses?: Pauses },
): Promise<KindOfRows | { stopped: string }> {
  for (;;) {
    await pauses?.over();
    const listing = await lookup.list(kind);
    if (listing.ok) {
      pauses?.reset();
      return listing;
    }
    const { error, retryAfterMs } = gatewayUnusable(listing.reply);
    if (!pauses?.begin(retryAfterMs)) return { stopped: error };
  }
}
