// The position of each address in an index, over all its pages, and limits on its size.
import type { IndexPage } from '../fetching/fetch-index.ts';
import { endless } from '../fetching/follow-pages.ts';

export interface Positions {
  /** Every address listed so far, with its position in document order. */
  readonly positions: ReadonlyMap<string, number>;
  /** Reads the whole page, and returns the number of entries to check. @throws FetchError if a limit is exceeded. */
  register(page: IndexPage): Promise<number>;
  /** The start position of the next page. */
  next(): number;
  pagesRead(): number;
  /** The number of addresses that may have a manifest. */
  usable(): number;
  /** Whether every entry contains its manifest or its digest. */
  isSelfContained(): boolean;
}

const MOST_LISTED = 3_000_000;
/** Bounds the memory for all addresses, which are kept until the end. */
const MOST_CHARACTERS = 200_000_000;

export function createPositions(): Positions {
  const positions = new Map<string, number>();
  let [next, pagesRead, usable, characters] = [0, 0, 0, 0];
  let isSelfContained = true;

  async function register(page: IndexPage): Promise<number> {
    let count = 0;
    pagesRead += 1;
    for await (const chunk of page.chunks()) {
      for (const { url, text, digest, isDeleted, fault } of chunk) {
        if (text === undefined && digest === undefined && !isDeleted) isSelfContained = false;
        const isNew = !positions.has(url);
        if (isNew) characters += url.length;
        if (isNew && fault === undefined && !isDeleted) usable += 1;
        // Within a page and across pages, an address counts once, and an inline manifest counts each time.
        if (isNew || text !== undefined || isDeleted) {
          positions.set(url, next);
          count += 1;
        }
        next += 1;
      }
      if (positions.size + pagesRead > MOST_LISTED) throw endless(`lists more than ${MOST_LISTED} manifests`);
      if (characters > MOST_CHARACTERS) throw endless(`lists addresses of more than ${MOST_CHARACTERS} characters`);
    }
    return count;
  }

  return {
    positions,
    register,
    next: () => next,
    pagesRead: () => pagesRead,
    usable: () => usable,
    isSelfContained: () => isSelfContained,
  };
}
