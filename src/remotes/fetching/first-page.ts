// Chooses where an ingest starts: with the changes since the last read or, if the host does not support that, with the whole index.

import type { IndexState } from '../store.ts';
import { type FetchTask, type IndexFetcher, type IndexPage, NoIndexError } from './fetch-index.ts';

export interface Beginning {
  /** Undefined when nothing changed since the last time. */
  first: IndexPage | undefined;
  /** A list of changes says nothing of what it does not list. */
  isWhole: boolean;
}

/** @throws FetchError when it cannot be fetched or read. */
export async function firstPage(
  fetchIndex: Pick<IndexFetcher, 'changed'>,
  { known, task }: { known: IndexState; task: FetchTask },
): Promise<Beginning> {
  const url = task.remote;
  if (known.changesSince !== null) {
    const changes = await fetchIndex.changed(askingSince(url, known.changesSince), known, task).catch(noChanges);
    // Something else than such a list is what a host answers that does not understand the question.
    if (!changes || changes.tellsChanges) return { first: changes, isWhole: false };
  }
  return { first: await fetchIndex.changed(url, known, task), isWhole: true };
}

/** Not every registry knows the parameter; one that is down, or wants fewer requests, is not asked for everything instead. */
function noChanges(error: unknown): { tellsChanges: false } {
  if (error instanceof NoIndexError) return { tellsChanges: false };
  throw error;
}

function askingSince(url: string, since: string): string {
  const changes = new URL(url);
  changes.searchParams.set('updated_since', since);
  return changes.href;
}
