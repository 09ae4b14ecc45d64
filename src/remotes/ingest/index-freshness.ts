// The stored state of an index, and how long an unchanged index implies unchanged manifests.
import type { IndexPage } from '../fetching/fetch-index.ts';
import type { IndexState } from '../store.ts';

export const NO_STATE: IndexState = {
  etag: null,
  lastModified: null,
  changesSince: null,
  goneThroughAt: null,
  isSelfContained: false,
};

/** Allows for clock differences between hubs and registry; reading some entries again costs little. */
const CLOCK_LEEWAY_MS = 3_600_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Whether it suffices to check if the index changed. If the index contains its manifests, they change with it; it is still
 * read in full once a day, in case its host reported a wrong state. Otherwise, a manifest can change while the index does
 * not; then only the background sync relies on the index, for up to an hour.
 */
export function isTrusted(known: IndexState, at: Date, { isBackground }: { isBackground: boolean }): boolean {
  if (known.isSelfContained) return wasGoneThrough(known, at, DAY_MS);
  return isBackground && wasGoneThrough(known, at, HOUR_MS);
}

/** Whether all entries of the index were checked within the last day. */
export function wasFinishedLately(known: IndexState, at: Date): boolean {
  return wasGoneThrough(known, at, DAY_MS);
}

function wasGoneThrough(known: IndexState, at: Date, withinMs: number): boolean {
  const { goneThroughAt } = known;
  if (goneThroughAt === null || isFromTheFuture(known, at)) return false;
  return at.getTime() - Date.parse(goneThroughAt) < withinMs;
}

/** Written by a hub with a wrong clock: changes made since then would be missed. */
function isFromTheFuture({ goneThroughAt, changesSince }: IndexState, at: Date): boolean {
  const latest = new Date(at.getTime() + CLOCK_LEEWAY_MS).toISOString();
  return (goneThroughAt ?? '') > latest || (changesSince ?? '') > at.toISOString();
}

interface Outcome {
  /** The previously stored state. */
  known: IndexState;
  startedAt: Date;
  /** Whether all its entries were checked. */
  isWhole: boolean;
  isSelfContained: boolean;
}

export function stateAfter(
  { state, tellsChanges, next }: IndexPage,
  { known, startedAt, isWhole, isSelfContained }: Outcome,
): IndexState {
  const changesSince = new Date(startedAt.getTime() - CLOCK_LEEWAY_MS).toISOString();
  return {
    // The validators of the first page do not cover the others.
    ...(next === undefined ? state : { etag: null, lastModified: null }),
    changesSince: tellsChanges ? changesSince : null,
    goneThroughAt: isWhole ? startedAt.toISOString() : known.goneThroughAt,
    isSelfContained: isWhole ? isSelfContained : known.isSelfContained,
  };
}
