// The input of a new segment: new documents, or the documents of older segments.
import type { EntityUid } from '../../catalog/uid.ts';
import type { Posting } from './postings.ts';
import { membersOf, postingsAt, type Segment } from './segment.ts';

export interface Source {
  readonly documentCount: number;
  isLive(document: number): boolean;
  document(document: number): SourceDocument;
  readonly termCount: number;
  /** In code point order. */
  term(position: number): string;
  /** In document order; may include dead documents. */
  postings(position: number): readonly Posting[];
}

export interface SourceDocument {
  name: string;
  sortName: string;
  /** The digest of its text, in hexadecimal. */
  digest: string;
  members: readonly SourceMember[];
}

export interface SourceMember {
  uid: EntityUid;
  flags: number;
  /** `<facet>:<value>`. */
  facets: readonly string[];
  quality: number;
  published: number;
  arrived: number;
  versionRank: number;
}

export function sourceFromSegment(segment: Segment, isLive: (document: number) => boolean): Source {
  const sets = new Map<number, readonly string[]>();

  function facetsOf(set: number): readonly string[] {
    const known = sets.get(set);
    if (known) return known;
    const values = segment.setValues.subarray(segment.setStarts[set], segment.setStarts[set + 1]);
    const facets = Array.from(values, (value) => segment.facetValues.at(value));
    sets.set(set, facets);
    return facets;
  }

  function memberAt(member: number): SourceMember {
    return {
      uid: segment.uids.at(member),
      flags: segment.flags[member] as number,
      facets: facetsOf(segment.facetSets[member] as number),
      quality: segment.qualities[member] as number,
      published: segment.published[member] as number,
      arrived: segment.arrived[member] as number,
      versionRank: segment.versionRanks[member] as number,
    };
  }

  return {
    documentCount: segment.documentCount,
    isLive,
    document: (document) => ({
      name: segment.names.at(document),
      sortName: segment.sortNames.at(document),
      digest: segment.digest(segment.texts[document] as number),
      members: membersOf(segment, document).map(memberAt),
    }),
    termCount: segment.terms.length,
    term: (position) => segment.terms.at(position),
    postings: (position) => postingsAt(segment, position),
  };
}
