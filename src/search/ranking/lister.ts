// Lists everything that matches the filters, in one of several orders.
import { LRUCache } from 'lru-cache';
import type { FoundHits, Hit, ListRequest } from '../engine/engine.ts';
import { countsFrom, type FacetCounts } from '../facet-values.ts';
import { countFacets } from '../index/facets.ts';
import { membersOf, type Segment } from '../index/segment.ts';
import type { Snapshot } from '../index/snapshot.ts';
import { type Compare, type Member, ORDER_OF, ORDERS } from '../sort.ts';

/** Lists one state of the index. */
export type Lister = (request: ListRequest) => FoundHits;

interface Matching {
  segment: Segment;
  /** In list order. */
  members: Uint32Array;
}

/** Cache size for the lists of recent filters. */
const MOST_BYTES = 16_000_000;
const MOST_FACET_COUNTS = 50;
/** All values of the last lists, for those who type a part of one. A list may have tens of thousands. */
const MOST_FACET_TOTALS = 2;
export const NO_SCORES = { lexical: 0, semantic: 0, quality: 0, recency: 0, final: 0 };

export function createLister(index: Snapshot): Lister {
  const lists = new LRUCache<string, Matching[], ListRequest>({
    maxSize: MOST_BYTES,
    sizeCalculation: (matching, key) => matching.reduce((sum, { members }) => sum + members.byteLength, 2 * key.length),
    memoMethod: (_key, _old, { context }) => matching(index, context),
  });
  const facetTotals = new LRUCache<string, ReadonlyMap<string, number>, readonly Matching[]>({
    max: MOST_FACET_TOTALS,
    memoMethod: (_key, _old, { context }) => countFacets(context),
  });
  const facetCounts = new LRUCache<string, FacetCounts, readonly Matching[]>({
    max: MOST_FACET_COUNTS,
    memoMethod: (_key, _old, { context }) => countsFrom(countFacets(context)),
  });
  return (request) => {
    const key = JSON.stringify([request.filters, request.versions]);
    const found = lists.memo(key + ORDER_OF[request.sort], { context: request });
    return {
      hits: pageOf(found, request),
      total: found.reduce((sum, { members }) => sum + members.length, 0),
      ...(request.withFacets &&
        (request.facetText
          ? countsFrom(facetTotals.memo(key, { context: found }), request.facetText)
          : facetCounts.memo(key, { context: found }))),
    };
  };
}

function matching(index: Snapshot, { filters, versions, sort }: ListRequest): Matching[] {
  return index.segments.map((open) => {
    const { segment, dead } = open;
    const { memberDocuments, [ORDER_OF[sort]]: ordered } = segment;
    const { members, meets } = index.choose(open, filters);
    const isShown = (member: number) => {
      const document = memberDocuments[member] as number;
      return dead[document] === 0 && (versions === 'all' ? meets(member) : members[document] === member);
    };
    return { segment, members: ordered.filter(isShown) };
  });
}

/** The remaining members of a segment, from a position on. */
interface Rest extends Matching {
  position: number;
}

/** A merge: each segment is sorted; the heads are compared until the page is full. */
function pageOf(found: readonly Matching[], { limit, offset, sort }: ListRequest): Hit[] {
  const rests = found.map((each): Rest => ({ ...each, position: 0 }));
  const compare = ORDERS[ORDER_OF[sort]];
  skip(rests, offset, compare);
  const hits: Hit[] = [];
  while (hits.length < limit) {
    const next = first(rests, 0, compare);
    if (!next) return hits;
    const { segment } = next;
    const member = next.members[next.position] as number;
    next.position += 1;
    const versions = membersOf(segment, segment.memberDocuments[member] as number);
    hits.push({ uid: segment.uids.at(member), ...NO_SCORES, versionCount: versions.length });
  }
  return hits;
}

/**
 * Skips the first `count` of all members in long steps: among the members `step` positions ahead in each segment, the smallest
 * has fewer than `count` members before it, so it and its predecessors in its segment can be skipped at once.
 */
function skip(rests: readonly Rest[], count: number, compare: Compare): void {
  for (let left = count; left > 0; ) {
    const step = Math.ceil(left / rests.length);
    const next = first(rests, step - 1, compare);
    if (!next) {
      // All segments are shorter: together they have fewer members than are left to skip.
      for (const rest of rests) rest.position = rest.members.length;
      return;
    }
    next.position += step;
    left -= step;
  }
}

/** The segment whose member `ahead` positions further on sorts first. */
function first(rests: readonly Rest[], ahead: number, compare: Compare): Rest | undefined {
  const memberOf = ({ segment, members, position }: Rest): Member => ({
    segment,
    member: members[position + ahead] as number,
  });
  return rests
    .filter(({ members, position }) => position + ahead < members.length)
    .reduce<Rest | undefined>(
      (one, other) => (one && compare(memberOf(one), memberOf(other)) <= 0 ? one : other),
      undefined,
    );
}
