// Limits the refusals that the audit log records per caller; further ones are only counted.
import type { Clock } from '../lib/world.ts';
import type { Caller } from './contract.ts';

/** Refusals of one caller that are recorded per hour. */
const MOST_REFUSALS = 100;
const HOUR_MS = 3_600_000;
const LAST_REFUSAL = 'further refusals of this caller within the hour are counted, but not recorded';

/** Returns the note for the recorded refusal, or undefined for a refusal that is only counted. */
export function createRefusalLimit(now: Clock) {
  const refusals = new Map<string, { since: number; count: number }>();
  return (caller: Caller): { detail?: string } | undefined => {
    const key = JSON.stringify([caller.kind, caller.id ?? caller.name]);
    const at = now().getTime();
    const known = refusals.get(key);
    if (known && at - known.since < HOUR_MS) {
      known.count += 1;
      if (known.count > MOST_REFUSALS) return undefined;
      return known.count < MOST_REFUSALS ? {} : { detail: LAST_REFUSAL };
    }
    refusals.set(key, { since: at, count: 1 });
    const counted = (known?.count ?? 0) - MOST_REFUSALS;
    return counted > 0 ? { detail: `${counted} earlier refusals of this caller were not recorded` } : {};
  };
}
