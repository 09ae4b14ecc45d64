// Lists: everything that meets the filters, the newest arrival first.
import { LRUCache } from 'lru-cache';
import type { FoundHits, Hit, ListRequest } from '../engine/engine.ts';
import type { FacetCounts } from '../facet-values.ts';
import { createFacetCounter } from '../index/facets.ts';
import { membersOf, type Segment } from '../index/segment.ts';
import type { OpenSegment, Snapshot } from '../index/snapshot.ts';

/** Lists of one state of the index. */
export interface Lister {
  list(request: ListRequest): FoundHits;
}

interface Matching {
  open: OpenSegment;
  /** The newest arrival first. */
  members: Uint32Array;
}

/** What the lists of recent filters take. */
const MOST_BYTES = 16_000_000;
const MOST_FACET_COUNTS = 50;
export const NO_SCORES = { lexical: 0, semantic: 0, quality: 0, recency: 0, final: 0 };

export function createLister(index: Snapshot): Lister {
  const lists = new LRUCache<string, Matching[], ListRequest>({
    maxSize: MOST_BYTES,
    sizeCalculation: (matching, key) => matching.reduce((sum, { members }) => sum + members.byteLength, 2 * key.length),
    memoMethod: (_key, _old, { context }) => matching(index, context),
  });
  const facetCounts = new LRUCache<string, FacetCounts, readonly Matching[]>({
    max: MOST_FACET_COUNTS,
    memoMethod: (_key, _old, { context }) => countFacets(context),
  });
  return {
    list(request) {
      const key = JSON.stringify([request.filters, request.versions]);
      const found = lists.memo(key, { context: request });
      return {
        hits: pageOf(found, request),
        total: found.reduce((sum, { members }) => sum + members.length, 0),
        ...(request.withFacets && { facets: facetCounts.memo(key, { context: found }) }),
      };
    },
  };
}

function matching(index: Snapshot, { filters, versions }: ListRequest): Matching[] {
  return index.segments.map((open) => {
    const { byArrival, memberDocuments } = open.segment;
    const { members, meets } = index.choose(open, filters);
    const isShown = (member: number) => {
      const document = memberDocuments[member] as number;
      return open.dead[document] === 0 && (versions === 'all' ? meets(member) : members[document] === member);
    };
    return { open, members: byArrival.filter(isShown) };
  });
}

function countFacets(found: readonly Matching[]): FacetCounts {
  const counter = createFacetCounter();
  for (const { open, members } of found) for (const member of members) counter.count(open.segment, member);
  return counter.counts();
}

/** Members of a segment, from a place on. */
interface Rest {
  segment: Segment;
  members: Uint32Array;
  place: number;
}

/** Each segment is in order; their heads are compared until the page is full. */
function pageOf(found: readonly Matching[], { limit, offset }: ListRequest): Hit[] {
  const rests = found.map(({ open: { segment }, members }): Rest => ({ segment, members, place: 0 }));
  skip(rests, offset);
  const hits: Hit[] = [];
  while (hits.length < limit) {
    const next = newest(rests, 0);
    if (!next) return hits;
    const { segment } = next;
    const member = next.members[next.place] as number;
    next.place += 1;
    const versions = membersOf(segment, segment.memberDocuments[member] as number);
    hits.push({ uid: segment.uids.at(member), ...NO_SCORES, versionCount: versions.length });
  }
  return hits;
}

/**
 * Leaves out the first `count` of all, in long steps: of the members that are `step` further on in their segments, the newest
 * has fewer than `count` before it, so that it and those before it in its segment are left out at once.
 */
function skip(rests: readonly Rest[], count: number): void {
  for (let left = count; left > 0; ) {
    const step = Math.ceil(left / rests.length);
    const next = newest(rests, step - 1);
    if (!next) {
      // All of them are short: together they have fewer than are left to skip.
      for (const rest of rests) rest.place = rest.members.length;
      return;
    }
    next.place += step;
    left -= step;
  }
}

/** The segment whose member, so far ahead of its place, is the newest. */
function newest(rests: readonly Rest[], ahead: number): Rest | undefined {
  return rests.reduce<Rest | undefined>((one, other) => {
    const otherMember = other.members[other.place + ahead];
    if (otherMember === undefined) return one;
    if (!one) return other;
    const member = one.members[one.place + ahead] as number;
    const difference = (other.segment.arrived[otherMember] as number) - (one.segment.arrived[member] as number);
    if (difference !== 0) return difference > 0 ? other : one;
    return other.segment.uids.at(otherMember) > one.segment.uids.at(member) ? other : one;
  }, undefined);
}
