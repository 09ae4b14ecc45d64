// The sort orders of results.
import type { Sort } from './contract.ts';
import type { IndexEntry } from './engine/search-index.ts';
import type { Segment } from './index/segment.ts';
import { plainText } from './search-query.ts';
import { fold } from './words.ts';

/** How much of a title is compared, in characters: PostgreSQL limits the size of an index entry. */
const LONGEST_TITLE = 200;

/** Ignores case and accents. Equal titles are ordered by name and type, so only versions of one entry are equal. */
export function sortName({ title, name, type }: Pick<IndexEntry, 'title' | 'name' | 'type'>): string {
  const plain = plainText(fold(title ?? name)).slice(0, LONGEST_TITLE);
  return [plain, name, type].join('\n').toWellFormed();
}

type Values = 'arrived' | 'published' | 'qualities';

export interface Member {
  segment: Pick<Segment, Values | 'sortNames' | 'nameRanks' | 'memberDocuments'>;
  member: number;
}

export type Compare = (one: Member, other: Member) => number;

/** Versions of one entry keep the order of their segment: newest first, stable before pre-releases. */
const byName: Compare = (one, other) => {
  if (one.segment !== other.segment)
    return one.segment.sortNames.compare(documentOf(one), other.segment.sortNames, documentOf(other));
  const { nameRanks } = one.segment;
  const rank = (member: Member) => nameRanks[documentOf(member)] as number;
  return rank(one) - rank(other) || one.member - other.member;
};

const byPublication = largestFirst('published', byName);

/** Keyed by the segment column that contains the members in this order. Entries read at once arrive at the same time. */
export const ORDERS = {
  byArrival: largestFirst('arrived', byPublication),
  byPublication,
  byName,
  byQuality: largestFirst('qualities', byName),
};

/** Without a query, nothing is relevant: the newest additions come first. */
export const ORDER_OF: Record<Sort, keyof typeof ORDERS> = {
  relevance: 'byArrival',
  created_at: 'byArrival',
  published_at: 'byPublication',
  name: 'byName',
  quality: 'byQuality',
};

function documentOf({ segment, member }: Member): number {
  return segment.memberDocuments[member] as number;
}

/** Unknown values sort last, because no value is negative. */
function largestFirst(column: Values, otherwise: Compare): Compare {
  const value = ({ segment, member }: Member) => {
    const known = segment[column][member] as number;
    return Number.isNaN(known) ? -1 : known;
  };
  return (one, other) => value(other) - value(one) || otherwise(one, other);
}
