// An immutable part of the index: documents, their versions, terms, facets and texts, as columns in shared memory.
import type { LifecycleStatus } from '../../catalog/manifest.ts';
import { ENTITY_TYPES, type EntityType } from '../../catalog/uid.ts';
import { TEXT_DIGEST_BYTES } from '../document.ts';
import type { IndexEntry } from '../engine/search-index.ts';
import { openColumns } from './columns.ts';
import { Dictionary } from './dictionary.ts';
import { type Posting, readPostings } from './postings.ts';
import { Strings } from './strings.ts';

/** The columns of a segment. Columns of start offsets have one extra entry, for the end. */
export interface SegmentColumns {
  termBytes: Uint8Array;
  termOffsets: Uint32Array;
  /** `lettersOf` a term. */
  termLetters: Uint32Array;
  postings: Uint8Array;
  postingStarts: Uint32Array;
  /** How many documents contain a term. */
  frequencies: Uint32Array;
  memberStarts: Uint32Array;
  nameBytes: Uint8Array;
  nameOffsets: Uint32Array;
  sortNameBytes: Uint8Array;
  sortNameOffsets: Uint32Array;
  /** The positions of documents sorted by `sortName`: faster to compare than names. */
  nameRanks: Uint32Array;
  /** The text of each document. */
  texts: Uint32Array;
  uidBytes: Uint8Array;
  uidOffsets: Uint32Array;
  flags: Uint8Array;
  facetSets: Uint32Array;
  qualities: Float32Array;
  /** Milliseconds; NaN if unknown. */
  published: Float64Array;
  arrived: Float64Array;
  /** Rank among the members of its document, counting pre-releases like any version. */
  versionRanks: Uint32Array;
  memberDocuments: Uint32Array;
  /** Members in list order, for each `sort`. */
  byArrival: Uint32Array;
  byPublication: Uint32Array;
  byName: Uint32Array;
  byQuality: Uint32Array;
  /** The values of all facet sets, as positions in `facetValues`. */
  setValues: Uint32Array;
  setStarts: Uint32Array;
  valueBytes: Uint8Array;
  valueOffsets: Uint32Array;
  digests: Uint8Array;
  /** The documents of each text. */
  textDocuments: Uint32Array;
  textDocumentStarts: Uint32Array;
}

/** All versions of one type and name form one document. Its members are the versions: stable before pre-releases, newest first. */
export interface Segment extends Readonly<SegmentColumns> {
  readonly documentCount: number;
  readonly memberCount: number;
  readonly textCount: number;
  readonly terms: Dictionary;
  readonly names: Strings;
  /** The sort keys for sorting documents by name. */
  readonly sortNames: Strings;
  readonly uids: Strings;
  /** `<facet>:<value>`. */
  readonly facetValues: Strings;
  /** Identifies the content of a text. */
  digest(text: number): string;
}

export function openSegment(block: SharedArrayBuffer): Segment {
  const columns = openColumns(block) as unknown as SegmentColumns;
  const digests = Buffer.from(columns.digests.buffer, columns.digests.byteOffset, columns.digests.length);
  return {
    ...columns,
    documentCount: columns.texts.length,
    memberCount: columns.flags.length,
    textCount: columns.textDocumentStarts.length - 1,
    terms: new Dictionary(columns.termBytes, columns.termOffsets, columns.termLetters),
    names: new Strings(columns.nameBytes, columns.nameOffsets),
    sortNames: new Strings(columns.sortNameBytes, columns.sortNameOffsets),
    uids: new Strings(columns.uidBytes, columns.uidOffsets),
    facetValues: new Strings(columns.valueBytes, columns.valueOffsets),
    digest: (text) => digests.toString('hex', text * TEXT_DIGEST_BYTES, (text + 1) * TEXT_DIGEST_BYTES),
  };
}

/** The postings of the term at a position; none at -1. */
export function postingsAt({ postings, postingStarts }: Segment, at: number): Posting[] {
  return at < 0 ? [] : readPostings(postings, postingStarts[at] as number, postingStarts[at + 1] as number);
}

export function membersOf({ memberStarts }: Segment, document: number): number[] {
  const start = memberStarts[document] as number;
  return Array.from({ length: (memberStarts[document + 1] as number) - start }, (_, position) => start + position);
}

/** A member's filter properties in one byte: its type in the lowest bits, and these flags. */
export const TYPE_BITS = 0b11;
export const IS_DISABLED = 0b100;
export const IS_DEPRECATED = 0b1000;
/** An mcp_server that is not registered with the gateway. */
export const IS_PENDING = 0b1_0000;

const STATUS_FLAGS: Record<LifecycleStatus, number> = { active: 0, deprecated: IS_DEPRECATED, disabled: IS_DISABLED };

export function memberFlags({ type, status, isRegistered }: IndexEntry): number {
  const isPending = type === 'mcp_server' && !isRegistered;
  return ENTITY_TYPES.indexOf(type) | STATUS_FLAGS[status] | (isPending ? IS_PENDING : 0);
}

export function typeOf(flags: number): EntityType {
  return ENTITY_TYPES[flags & TYPE_BITS] as EntityType;
}
