// Follows the pages of an index from the first to the last, with limits against endless lists.
import { FetchError } from '../../lib/net/fetch-error.ts';
import type { FetchTask, IndexFetcher, IndexPage } from './fetch-index.ts';

/** @throws FetchError if a page cannot be read, or links back to an earlier one. */
export async function* followPages(
  first: IndexPage,
  fetchIndex: IndexFetcher,
  task: FetchTask,
): AsyncGenerator<IndexPage> {
  const followed = new Set<string>();
  for (let page = first; ; ) {
    yield page;
    const { next } = page;
    if (next === undefined) return;
    if (followed.has(next)) throw endless('leads back to a page that was read before');
    followed.add(next);
    page = await fetchIndex.page(next, task).catch((error: unknown) => {
      throw error instanceof FetchError ? ofPage(followed.size + 1, error) : error;
    });
    // Treating it as an empty page would end the list, and mark everything after it as missing.
    if (!page.hasList) throw ofPage(followed.size + 1, new FetchError('contains no list', { isTemporary: true }));
  }
}

export function endless(fault: string): FetchError {
  return new FetchError(`${fault}, and is read no further`, { isTemporary: false });
}

function ofPage(page: number, { message, isTemporary }: FetchError): FetchError {
  return new FetchError(`page ${page} of the list: ${message}`, { isTemporary });
}
