// What is remembered of an index, and for how long its word is taken that nothing changed.
import type { IndexPage } from './fetch-index.ts';
import type { IndexState } from './store.ts';

export const NO_STATE: IndexState = { etag: null, lastModified: null, changesSince: null, goneThroughAt: null };

/** The clocks of a hub and of a registry differ, and what is listed again costs little. */
const CLOCK_LEEWAY_MS = 3_600_000;
/** An index stays the same when a manifest is changed where it is: once a day, its word is not taken for it. */
const TRUSTED_MS = 24 * 3_600_000;

export function isTrusted({ goneThroughAt }: IndexState, at: Date): boolean {
  return goneThroughAt !== null && at.getTime() - Date.parse(goneThroughAt) < TRUSTED_MS;
}

/** `known` is what was remembered before, `isWhole` whether everything that it lists was looked at. */
export function stateAfter(
  { state, tellsChanges, next }: IndexPage,
  { known, startedAt, isWhole }: { known: IndexState; startedAt: Date; isWhole: boolean },
): IndexState {
  const changesSince = new Date(startedAt.getTime() - CLOCK_LEEWAY_MS).toISOString();
  return {
    // Of a paged list, the first page says nothing of the others.
    ...(next === undefined ? state : { etag: null, lastModified: null }),
    changesSince: tellsChanges ? changesSince : null,
    goneThroughAt: isWhole ? startedAt.toISOString() : known.goneThroughAt,
  };
}
