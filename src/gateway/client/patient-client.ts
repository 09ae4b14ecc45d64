// A client that waits for the pauses that the gateway requests, and then repeats the call.
import type { GatewayClient } from './client.ts';

export interface Patience {
  /** Rejects if the signal is aborted. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  signal: AbortSignal;
}

/** A longer pause is an answer, which ends the sync. */
const LONGEST_PAUSE_MS = 120_000;
/** After this many pauses without a success, further ones are pointless. */
const MOST_PAUSES_IN_A_ROW = 5;

export function createPatientClient({ url, send }: GatewayClient, { sleep, signal }: Patience): GatewayClient {
  /** Applies to all running calls. */
  let pause: Promise<void> | undefined;
  let inARow = 0;

  /** Returns whether to wait for the pause and repeat the call. */
  function begin(ms: number): boolean {
    if (ms > LONGEST_PAUSE_MS || signal.aborted) return false;
    if (pause) return true;
    inARow += 1;
    if (inARow > MOST_PAUSES_IN_A_ROW) return false;
    pause = sleep(ms, signal)
      .catch(() => {})
      .finally(() => {
        pause = undefined;
      });
    return true;
  }

  return {
    url,
    async send(call) {
      for (;;) {
        await pause;
        const reply = await send(call);
        if (reply.kind !== 'down') inARow = 0;
        if (reply.kind !== 'down' || reply.retryAfterMs === undefined || !begin(reply.retryAfterMs)) return reply;
      }
    },
  };
}
