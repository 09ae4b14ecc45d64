// A part of the index that never changes: documents, their versions, terms, facets and texts, as columns in shared memory.
import type { LifecycleStatus } from '../../catalog/manifest.ts';
import { ENTITY_TYPES, type EntityType } from '../../catalog/uid.ts';
import { TEXT_DIGEST_BYTES } from '../document.ts';
import type { IndexEntry } from '../engine/search-index.ts';
import { openColumns } from './columns.ts';
import { Dictionary } from './dictionary.ts';
import { type Posting, readPostings } from './postings.ts';
import { Strings } from './strings.ts';

/** What a segment is packed from. Where something begins is listed with one entry more than there are of them. */
export interface SegmentColumns {
  termBytes: Uint8Array;
  termOffsets: Uint32Array;
  /** `lettersOf` a term. */
  termLetters: Uint32Array;
  postings: Uint8Array;
  postingStarts: Uint32Array;
  /** How many documents hold a term. */
  frequencies: Uint32Array;
  memberStarts: Uint32Array;
  nameBytes: Uint8Array;
  nameOffsets: Uint32Array;
  sortNameBytes: Uint8Array;
  sortNameOffsets: Uint32Array;
  /** Places of documents when they are sorted by `sortName`: faster to compare than names. */
  nameRanks: Uint32Array;
  /** Which text a document has. */
  texts: Uint32Array;
  uidBytes: Uint8Array;
  uidOffsets: Uint32Array;
  flags: Uint8Array;
  facetSets: Uint32Array;
  qualities: Float32Array;
  /** Milliseconds; NaN where it is not known. */
  published: Float64Array;
  arrived: Float64Array;
  /** Place among the members of its document when pre-releases count like any version. */
  versionRanks: Uint32Array;
  memberDocuments: Uint32Array;
  /** Members in the order of a list, for each `sort`. */
  byArrival: Uint32Array;
  byPublication: Uint32Array;
  byName: Uint32Array;
  byQuality: Uint32Array;
  /** Values of all facet sets, as places in `facetValues`. */
  setValues: Uint32Array;
  setStarts: Uint32Array;
  valueBytes: Uint8Array;
  valueOffsets: Uint32Array;
  digests: Uint8Array;
  /** Documents of all texts. */
  textDocuments: Uint32Array;
  textDocumentStarts: Uint32Array;
}

/** All versions of one type and name are one document. Members are its versions: newest first, stable ones before pre-releases. */
export interface Segment extends Readonly<SegmentColumns> {
  readonly documentCount: number;
  readonly memberCount: number;
  readonly textCount: number;
  readonly terms: Dictionary;
  /** The names of documents. */
  readonly names: Strings;
  /** What documents are sorted by when they are sorted by name. */
  readonly sortNames: Strings;
  readonly uids: Strings;
  /** `<facet>:<value>`. */
  readonly facetValues: Strings;
  /** Names the content of a text. */
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

/** Postings of the term at a place; none at -1. */
export function postingsAt({ postings, postingStarts }: Segment, place: number): Posting[] {
  return place < 0 ? [] : readPostings(postings, postingStarts[place] as number, postingStarts[place + 1] as number);
}

export function membersOf({ memberStarts }: Segment, document: number): number[] {
  const start = memberStarts[document] as number;
  return Array.from({ length: (memberStarts[document + 1] as number) - start }, (_, place) => start + place);
}

/** What filters ask of a member, in one byte: its type in the lowest bits, and these. */
export const TYPE_BITS = 0b11;
export const IS_DISABLED = 0b100;
export const IS_DEPRECATED = 0b1000;
/** An mcp_server that the gateway does not have. */
export const IS_PENDING = 0b1_0000;

const STATUS_FLAGS: Record<LifecycleStatus, number> = { active: 0, deprecated: IS_DEPRECATED, disabled: IS_DISABLED };

export function memberFlags({ type, status, isRegistered }: IndexEntry): number {
  const isPending = type === 'mcp_server' && !isRegistered;
  return ENTITY_TYPES.indexOf(type) | STATUS_FLAGS[status] | (isPending ? IS_PENDING : 0);
}

export function typeOf(flags: number): EntityType {
  return ENTITY_TYPES[flags & TYPE_BITS] as EntityType;
}
