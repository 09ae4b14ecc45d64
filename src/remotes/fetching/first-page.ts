// Chooses where an ingest starts: with the changes since the last read or, if the host does not support that, with the full index.

import type { IndexState } from '../store.ts';
import { type FetchTask, type IndexFetcher, type IndexPage, NoIndexError } from './fetch-index.ts';

export interface Beginning {
  /** Undefined if nothing changed since the last ingest. */
  first: IndexPage | undefined;
  /** Whether unlisted entries are missing; not so for a list of changes. */
  isWhole: boolean;
}

/** @throws FetchError if it cannot be fetched or read. */
export async function firstPage(
  fetchIndex: Pick<IndexFetcher, 'changed'>,
  { known, task }: { known: IndexState; task: FetchTask },
): Promise<Beginning> {
  const url = task.remote;
  if (known.changesSince !== null) {
    const changes = await fetchIndex.changed(askingSince(url, known.changesSince), known, task).catch(noChanges);
    // A host that does not support the parameter responds with something other than a list of changes.
    if (!changes || changes.tellsChanges) return { first: changes, isWhole: false };
  }
  return { first: await fetchIndex.changed(url, known, task), isWhole: true };
}

/** Falls back to the full index if the registry does not support the parameter, but not if it is down or rate limiting. */
function noChanges(error: unknown): { tellsChanges: false } {
  if (error instanceof NoIndexError) return { tellsChanges: false };
  throw error;
}

function askingSince(url: string, since: string): string {
  const changes = new URL(url);
  changes.searchParams.set('updated_since', since);
  return changes.href;
}
