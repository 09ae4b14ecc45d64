// One state of the index: its segments, their replaced documents, and their vectors.
import { LRUCache } from 'lru-cache';
import type { SearchFilters } from '../contract.ts';
import { rarityOf } from '../impacts.ts';
import { type Choice, chooseMembers } from './choice.ts';
import { openSegment, type Segment } from './segment.ts';
import { openVectors, type VectorBlock, type Vectors } from './vectors.ts';

/** What threads send each other: shared memory. */
export type SnapshotParts = readonly SegmentParts[];

export interface SegmentParts {
  /** Unique within the process. */
  id: number;
  block: SharedArrayBuffer;
  /** 1 for each document that was removed or that a newer segment contains. */
  dead: SharedArrayBuffer;
  /** Absent until the first vector of one of its texts arrives. */
  vectors?: VectorBlock;
}

export interface OpenSegment {
  readonly id: number;
  readonly segment: Segment;
  readonly dead: Uint8Array;
  readonly liveCount: number;
  readonly vectors: Vectors | undefined;
}

export interface Snapshot {
  readonly segments: readonly OpenSegment[];
  readonly textCount: number;
  /** How many documents contain a term; may include replaced documents. */
  frequency(term: string): number;
  rarity(term: string): number;
  choose(segment: OpenSegment, filters: SearchFilters): Choice;
}

/** Most searches use one of a few combinations of filters. */
const MOST_CHOICE_BYTES = 32_000_000;

/** Opens states of the index, one after the other; reuses segments that are already open. */
export function createSnapshotReader(): (parts: SnapshotParts) => Snapshot {
  let known = new Map<number, OpenSegment>();
  const choices = new LRUCache<string, Choice, { segment: Segment; filters: SearchFilters }>({
    maxSize: MOST_CHOICE_BYTES,
    sizeCalculation: ({ members, texts }, key) => members.byteLength + texts.byteLength + 2 * key.length,
    memoMethod: (_key, _old, { context: { segment, filters } }) => chooseMembers(segment, filters),
  });
  const choose = ({ id, segment }: OpenSegment, filters: SearchFilters) =>
    choices.memo(`${id} ${JSON.stringify(filters)}`, { context: { segment, filters } });

  return (parts) => {
    const segments = parts.map((part) => openParts(part, known.get(part.id)));
    known = new Map(segments.map((segment) => [segment.id, segment]));
    return createSnapshot(segments, choose);
  };
}

export function openParts({ id, block, dead, vectors }: SegmentParts, before?: OpenSegment): OpenSegment {
  const segment = before?.segment ?? openSegment(block);
  const deadDocuments = new Uint8Array(dead);
  const isSame = before?.vectors !== undefined && before.vectors.block.dimensions === vectors?.dimensions;
  return {
    id,
    segment,
    dead: deadDocuments,
    liveCount: segment.documentCount - deadDocuments.reduce((sum, isDead) => sum + isDead, 0),
    vectors: isSame ? before.vectors : vectors && openVectors(vectors),
  };
}

function createSnapshot(segments: readonly OpenSegment[], choose: Snapshot['choose']): Snapshot {
  const documentCount = segments.reduce((sum, { liveCount }) => sum + liveCount, 0);
  const frequencies = new Map<string, number>();

  function frequency(term: string): number {
    const known = frequencies.get(term);
    if (known !== undefined) return known;
    const inSegment = ({ segment }: OpenSegment) => segment.frequencies[segment.terms.find(term)] ?? 0;
    const sum = segments.reduce((before, each) => before + inSegment(each), 0);
    if (frequencies.size >= MOST_FREQUENCIES) frequencies.clear();
    frequencies.set(term, sum);
    return sum;
  }

  return {
    segments,
    textCount: segments.reduce((sum, { segment }) => sum + segment.textCount, 0),
    frequency,
    rarity: (term) => rarityOf(frequency(term), documentCount),
    choose,
  };
}

const MOST_FREQUENCIES = 10_000;
