// Lists: everything that meets the filters, the newest arrival first.
import { LRUCache } from 'lru-cache';
import type { Hit, ListRequest } from '../engine/engine.ts';
import type { FacetCounts } from '../facet-values.ts';
import { createFacetCounter } from '../index/facets.ts';
import type { OpenSegment, Snapshot } from '../index/snapshot.ts';

export interface Listed {
  hits: Hit[];
  total: number;
  facets?: FacetCounts;
}

/** Lists of one state of the index. */
export interface Lister {
  list(request: ListRequest): Listed;
}

interface Matching {
  open: OpenSegment;
  /** The newest arrival first. */
  members: Uint32Array;
}

/** What the lists of recent filters take. */
const MOST_BYTES = 16_000_000;
const MOST_FACET_COUNTS = 50;
const NO_SCORES = { lexical: 0, semantic: 0, quality: 0, recency: 0, final: 0 };

export function createLister(index: Snapshot): Lister {
  const lists = new LRUCache<string, Matching[]>({
    maxSize: MOST_BYTES,
    sizeCalculation: (matching, key) => matching.reduce((sum, { members }) => sum + members.byteLength, 2 * key.length),
  });
  const facetCounts = new LRUCache<string, FacetCounts>({ max: MOST_FACET_COUNTS });

  function matching({ filters, versions }: ListRequest, key: string): Matching[] {
    const known = lists.get(key);
    if (known) return known;
    const found = index.segments.map((open) => {
      const { byArrival, memberDocuments } = open.segment;
      const { members, meets } = index.choose(open, filters);
      const isShown = (member: number) => {
        const document = memberDocuments[member] as number;
        return open.dead[document] === 0 && (versions === 'all' ? meets(member) : members[document] === member);
      };
      return { open, members: byArrival.filter(isShown) };
    });
    lists.set(key, found);
    return found;
  }

  function countFacets(found: readonly Matching[], key: string): FacetCounts {
    const known = facetCounts.get(key);
    if (known) return known;
    const counter = createFacetCounter();
    for (const { open, members } of found) for (const member of members) counter.count(open.segment, member);
    const counts = counter.counts();
    facetCounts.set(key, counts);
    return counts;
  }

  return {
    list(request) {
      const key = JSON.stringify([request.filters, request.versions]);
      const found = matching(request, key);
      return {
        hits: pageOf(found, request),
        total: found.reduce((sum, { members }) => sum + members.length, 0),
        ...(request.withFacets && { facets: countFacets(found, key) }),
      };
    },
  };
}

/** The segments are in order by themselves; their heads are compared until the page is full. */
function pageOf(found: readonly Matching[], { limit, offset }: ListRequest): Hit[] {
  const places = found.map(() => 0);
  const hits: Hit[] = [];
  for (let passed = 0; hits.length < limit; passed += 1) {
    const next = newestHead(found, places);
    if (next < 0) return hits;
    const { open, members } = found[next] as Matching;
    const member = members[places[next] as number] as number;
    places[next] = (places[next] as number) + 1;
    if (passed < offset) continue;
    const { segment } = open;
    const document = segment.memberDocuments[member] as number;
    const versionCount = (segment.memberStarts[document + 1] as number) - (segment.memberStarts[document] as number);
    hits.push({ uid: segment.uids.at(member), ...NO_SCORES, versionCount });
  }
  return hits;
}

function newestHead(found: readonly Matching[], places: readonly number[]): number {
  let newest = -1;
  for (let index = 0; index < found.length; index += 1) {
    const member = headOf(found, places, index);
    if (member !== undefined && (newest < 0 || isNewer(found, places, index, newest))) newest = index;
  }
  return newest;
}

function headOf(found: readonly Matching[], places: readonly number[], index: number): number | undefined {
  return found[index]?.members[places[index] as number];
}

function isNewer(found: readonly Matching[], places: readonly number[], one: number, other: number): boolean {
  const [segment, otherSegment] = [(found[one] as Matching).open.segment, (found[other] as Matching).open.segment];
  const member = headOf(found, places, one) as number;
  const otherMember = headOf(found, places, other) as number;
  const difference = (segment.arrived[member] as number) - (otherSegment.arrived[otherMember] as number);
  return difference > 0 || (difference === 0 && segment.uids.at(member) > otherSegment.uids.at(otherMember));
}
