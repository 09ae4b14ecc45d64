// The stored state of an index, and how long an unchanged index is trusted to mean unchanged manifests.
import type { IndexPage } from '../fetching/fetch-index.ts';
import type { IndexState } from '../store.ts';

export const NO_STATE: IndexState = {
  etag: null,
  lastModified: null,
  changesSince: null,
  goneThroughAt: null,
  isSelfContained: false,
};

/** The clocks of a hub and of a registry differ, and what is listed again costs little. */
const CLOCK_LEEWAY_MS = 3_600_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Whether it is enough to ask if the index changed. Where it holds its manifests, they change with it, and it is read whole
 * once a day only in case its host reported something wrong. Elsewhere a manifest can change while the index stays the same:
 * then only the hub's own background sync asks no more than that, for up to an hour.
 */
export function isTrusted(known: IndexState, at: Date, { isBackground }: { isBackground: boolean }): boolean {
  if (known.isSelfContained) return wasGoneThrough(known, at, DAY_MS);
  return isBackground && wasGoneThrough(known, at, HOUR_MS);
}

/** Whether everything that the index lists was looked at within the last day. */
export function wasFinishedLately(known: IndexState, at: Date): boolean {
  return wasGoneThrough(known, at, DAY_MS);
}

function wasGoneThrough({ goneThroughAt }: IndexState, at: Date, withinMs: number): boolean {
  // A time far ahead is that of a clock that was wrong.
  return goneThroughAt !== null && Math.abs(at.getTime() - Date.parse(goneThroughAt)) < withinMs;
}

interface Outcome {
  /** What was remembered before. */
  known: IndexState;
  startedAt: Date;
  /** Whether everything that it lists was looked at. */
  isWhole: boolean;
  isSelfContained: boolean;
}

export function stateAfter(
  { state, tellsChanges, next }: IndexPage,
  { known, startedAt, isWhole, isSelfContained }: Outcome,
): IndexState {
  const changesSince = new Date(startedAt.getTime() - CLOCK_LEEWAY_MS).toISOString();
  return {
    // The first page of a paged list says nothing about the others.
    ...(next === undefined ? state : { etag: null, lastModified: null }),
    changesSince: tellsChanges ? changesSince : null,
    goneThroughAt: isWhole ? startedAt.toISOString() : known.goneThroughAt,
    isSelfContained: isWhole ? isSelfContained : known.isSelfContained,
  };
}
