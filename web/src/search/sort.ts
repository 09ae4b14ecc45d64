// The order of results. The hub answers by relevance; other orders are made here, of as many results as it gives at once.
import type { SearchItem } from '../../../src/search/contract.ts';

export const SORTS = ['relevance', 'published', 'name', 'quality'] as const;
export type Sort = (typeof SORTS)[number];

/** Without a query, the hub lists what was added last first. */
export function sortName(sort: Sort, query: string): string {
  if (sort === 'relevance') return query === '' ? 'Recently added' : 'Relevance';
  return { published: 'Recently published', name: 'Name', quality: 'Best described' }[sort];
}

const ORDERS: Record<Exclude<Sort, 'relevance'>, (one: SearchItem, other: SearchItem) => number> = {
  published: (one, other) => (other.published_at ?? '').localeCompare(one.published_at ?? ''),
  name: (one, other) => (one.title ?? one.name).localeCompare(other.title ?? other.name, 'en'),
  quality: (one, other) => other.score_quality - one.score_quality,
};

export function sorted(items: readonly SearchItem[], sort: Sort): readonly SearchItem[] {
  return sort === 'relevance' ? items : items.toSorted(ORDERS[sort]);
}
