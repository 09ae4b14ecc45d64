// What results are sorted by.
import type { Sort } from './contract.ts';
import type { IndexEntry } from './engine/search-index.ts';
import type { Segment } from './index/segment.ts';
import { plainText } from './search-query.ts';
import { fold } from './words.ts';

/** The part of a title that is compared, in characters: PostgreSQL limits the size of an index entry. */
const LONGEST_TITLE = 200;

/** Case and accents do not count. Equal titles are in the order of names and types: only versions of one entry are equal. */
export function sortName({ title, name, type }: Pick<IndexEntry, 'title' | 'name' | 'type'>): string {
  const plain = plainText(fold(title ?? name)).slice(0, LONGEST_TITLE);
  return [plain, name, type].join('\n').toWellFormed();
}

type Values = 'arrived' | 'published' | 'qualities';

/** A version in a segment. */
export interface Member {
  segment: Pick<Segment, Values | 'sortNames' | 'nameRanks' | 'uids' | 'memberDocuments'>;
  member: number;
}

export type Compare = (one: Member, other: Member) => number;

const lastUidFirst: Compare = (one, other) => other.segment.uids.compare(other.member, one.segment.uids, one.member);

/** Versions of one entry stay as they are in their segment: the newest first, stable ones before pre-releases. */
const byName: Compare = (one, other) => {
  if (one.segment !== other.segment)
    return one.segment.sortNames.compare(documentOf(one), other.segment.sortNames, documentOf(other));
  const { nameRanks } = one.segment;
  const rank = (member: Member) => nameRanks[documentOf(member)] as number;
  return rank(one) - rank(other) || one.member - other.member;
};

/** By the name of the column that holds the members of a segment in this order. */
export const ORDERS = {
  byArrival: largestFirst('arrived', lastUidFirst),
  byPublication: largestFirst('published', byName),
  byName,
  byQuality: largestFirst('qualities', byName),
};

/** Without a query nothing is relevant: what was added last comes first. */
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

/** What is not known comes last: no value is negative. */
function largestFirst(column: Values, otherwise: Compare): Compare {
  const value = ({ segment, member }: Member) => {
    const known = segment[column][member] as number;
    return Number.isNaN(known) ? -1 : known;
  };
  return (one, other) => value(other) - value(one) || otherwise(one, other);
}
