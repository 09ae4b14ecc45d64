// A part of the index that never changes: documents, their versions, terms, facets and texts, as columns in shared memory.
import type { LifecycleStatus } from '../../catalog/manifest.ts';
import { ENTITY_TYPES, type EntityType } from '../../catalog/uid.ts';
import { TEXT_DIGEST_BYTES } from '../document.ts';
import { openColumns } from './columns.ts';
import { type Dictionary, openDictionary } from './dictionary.ts';
import { openStrings, type Strings } from './strings.ts';

/** All versions of one type and name are one document. Members are its versions: newest first, stable ones before pre-releases. */
export interface Segment {
  readonly block: SharedArrayBuffer;
  readonly documentCount: number;
  readonly memberCount: number;
  readonly textCount: number;
  readonly terms: Dictionary;
  readonly postings: Uint8Array;
  /** Where the postings of a term begin; one more than there are terms. */
  readonly postingStarts: Uint32Array;
  /** How many documents hold a term. */
  readonly frequencies: Uint32Array;
  /** Where the members of a document begin; one more than there are documents. */
  readonly memberStarts: Uint32Array;
  /** Of a document. */
  readonly names: Strings;
  /** Which text a document has. */
  readonly texts: Uint32Array;
  readonly uids: Strings;
  /** `memberFlags` of a member. */
  readonly flags: Uint8Array;
  readonly facetSets: Uint32Array;
  readonly qualities: Float32Array;
  /** Milliseconds; NaN where it is not known. */
  readonly published: Float64Array;
  readonly arrived: Float64Array;
  /** Place among the members of its document when pre-releases count like any version. */
  readonly versionRanks: Uint32Array;
  readonly memberDocuments: Uint32Array;
  /** Members, the newest arrival first. */
  readonly byArrival: Uint32Array;
  /** Values of all facet sets, as places in `facetValues`. */
  readonly setValues: Uint32Array;
  readonly setStarts: Uint32Array;
  /** `<facet> <value>`. */
  readonly facetValues: Strings;
  /** Documents of all texts. */
  readonly textDocuments: Uint32Array;
  readonly textDocumentStarts: Uint32Array;
  /** Names the content of a text. */
  digest(text: number): string;
}

/** What a segment is packed from. */
export interface SegmentColumns {
  termBytes: Uint8Array;
  termOffsets: Uint32Array;
  termLetters: Uint32Array;
  postings: Uint8Array;
  postingStarts: Uint32Array;
  frequencies: Uint32Array;
  memberStarts: Uint32Array;
  nameBytes: Uint8Array;
  nameOffsets: Uint32Array;
  texts: Uint32Array;
  uidBytes: Uint8Array;
  uidOffsets: Uint32Array;
  flags: Uint8Array;
  facetSets: Uint32Array;
  qualities: Float32Array;
  published: Float64Array;
  arrived: Float64Array;
  versionRanks: Uint32Array;
  memberDocuments: Uint32Array;
  byArrival: Uint32Array;
  setValues: Uint32Array;
  setStarts: Uint32Array;
  valueBytes: Uint8Array;
  valueOffsets: Uint32Array;
  digests: Uint8Array;
  textDocuments: Uint32Array;
  textDocumentStarts: Uint32Array;
}

export function openSegment(block: SharedArrayBuffer): Segment {
  const columns = openColumns(block) as unknown as SegmentColumns;
  const digests = Buffer.from(columns.digests.buffer, columns.digests.byteOffset, columns.digests.length);
  return {
    ...columns,
    block,
    documentCount: columns.texts.length,
    memberCount: columns.flags.length,
    textCount: columns.textDocumentStarts.length - 1,
    terms: openDictionary({ bytes: columns.termBytes, offsets: columns.termOffsets, letters: columns.termLetters }),
    names: openStrings(columns.nameBytes, columns.nameOffsets),
    uids: openStrings(columns.uidBytes, columns.uidOffsets),
    facetValues: openStrings(columns.valueBytes, columns.valueOffsets),
    digest: (text) => digests.toString('hex', text * TEXT_DIGEST_BYTES, (text + 1) * TEXT_DIGEST_BYTES),
  };
}

/** What filters ask of a member, in one byte: its type in the lowest bits, and these. */
export const TYPE_BITS = 0b11;
export const IS_DISABLED = 0b100;
export const IS_DEPRECATED = 0b1000;
/** An mcp_server that the gateway does not have. */
export const IS_PENDING = 0b1_0000;
const IS_PRERELEASE = 0b10_0000;

const STATUS_FLAGS: Record<LifecycleStatus, number> = { active: 0, deprecated: IS_DEPRECATED, disabled: IS_DISABLED };

export function memberFlags(member: {
  type: EntityType;
  status: LifecycleStatus;
  isRegistered: boolean;
  isPrerelease: boolean;
}): number {
  return (
    ENTITY_TYPES.indexOf(member.type) |
    STATUS_FLAGS[member.status] |
    (member.type === 'mcp_server' && !member.isRegistered ? IS_PENDING : 0) |
    (member.isPrerelease ? IS_PRERELEASE : 0)
  );
}

export function typeOf(flags: number): EntityType {
  return ENTITY_TYPES[flags & TYPE_BITS] as EntityType;
}
