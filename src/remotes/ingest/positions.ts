// The position of each address in an index, over all its pages, and limits on its size.
import type { IndexPage } from '../fetching/fetch-index.ts';
import { endless } from '../fetching/follow-pages.ts';

export interface Places {
  /** Every address that was listed so far, with its place in document order. */
  readonly positions: ReadonlyMap<string, number>;
  /** How many of its entries are to be looked at. The page is gone through whole. @throws FetchError when it is too much */
  register(page: IndexPage): Promise<number>;
  /** Where the next page begins. */
  next(): number;
  pagesRead(): number;
  /** How many addresses may lead to a manifest. */
  usable(): number;
  /** Whether every entry came with its manifest, or with its digest. */
  isSelfContained(): boolean;
}

const MOST_LISTED = 3_000_000;
/** Bounds the memory for all addresses, which are kept until the end. */
const MOST_CHARACTERS = 200_000_000;

export function createPlaces(): Places {
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
        // As within one page: an address counts once, what is in place as often as it comes.
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
