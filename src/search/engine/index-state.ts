// The main thread's view of the index: counted handles on shared memory, replaced as a whole with every change.
import { openSegment } from '../index/segment.ts';
import { type OpenSegment, openParts, type SegmentParts, type SnapshotParts } from '../index/snapshot.ts';
import { createVectorBlock } from '../index/vectors.ts';
import type { MissingText } from './embed-texts.ts';
import type { IndexSizes } from './engine.ts';
import type { StoredVector } from './search-index.ts';

export interface IndexChange {
  block?: SharedArrayBuffer;
  /** The vectors of texts that the replaced documents had too. */
  vectors?: SegmentParts['vectors'];
  /** The documents that were removed, by segment. */
  dead: ReadonlyMap<number, readonly number[]>;
}

/** Several segments merged into one. */
export interface MergedSegments {
  block: SharedArrayBuffer;
  vectors: SegmentParts['vectors'];
  /** For each merged segment, the new numbers of its documents; -1 for dead documents. */
  numbers: readonly Int32Array[];
}

export interface TextWithoutVector extends MissingText {
  segment: number;
  text: number;
}

interface Held {
  parts: SegmentParts;
  open: OpenSegment;
  counts: IndexSizes;
}

/** This many segments of one size class are merged into one of the next. */
const SEGMENTS_OF_ONE_SIZE = 4;
/** Segments with fewer documents count as this large. */
const SMALLEST_SIZE = 64;
const MOST_DEAD = 0.3;

export class IndexState {
  /** Increases whenever `parts` change. */
  version = 0;
  /** The model of the vectors. */
  model: string | undefined;
  private held: readonly Held[] = [];
  private lastId = 0;

  get parts(): SnapshotParts {
    return this.held.map(({ parts }) => parts);
  }

  sizes(): IndexSizes {
    const all = (what: keyof IndexSizes) => this.held.reduce((sum, { counts }) => sum + counts[what], 0);
    return { entities: all('entities'), families: all('families'), texts: all('texts'), embedded: all('embedded') };
  }

  /** Adds new documents and marks others as dead in one step. */
  change({ block, vectors, dead }: IndexChange): void {
    const kept = this.held.map((each) => bury(each, dead.get(each.parts.id) ?? []));
    this.set(block ? [...kept, this.newSegment(block, vectors)] : kept);
  }

  replace(ids: readonly number[], { block, vectors, numbers }: MergedSegments): void {
    const merged = this.newSegment(block, vectors);
    // Documents that were removed during the merge are dead in the new segment too.
    const dead = ids.flatMap((id, position) => {
      const flags = this.heldAs(id)?.open.dead ?? new Uint8Array();
      const moved = numbers[position] as Int32Array;
      return Array.from(moved).flatMap((number, document) => (number >= 0 && flags[document] !== 0 ? number : []));
    });
    this.set([...this.held.filter(({ parts }) => !ids.includes(parts.id)), bury(merged, dead)]);
  }

  /** The ids of several segments of about the same size, or of one with many dead documents; empty when there are none. */
  toMerge(except: ReadonlySet<number>): number[] {
    const segments = this.held.map(({ open }) => open).filter(({ id }) => !except.has(id));
    const bySize = Map.groupBy(segments, ({ liveCount }) => sizeClass(liveCount));
    const [smallest] = [...bySize].filter(([, same]) => same.length >= SEGMENTS_OF_ONE_SIZE).sort(([a], [b]) => a - b);
    if (smallest) return smallest[1].map(({ id }) => id);
    const decayed = segments.find(
      ({ liveCount, dead }) => dead.length > SMALLEST_SIZE && liveCount < (1 - MOST_DEAD) * dead.length,
    );
    return decayed ? [decayed.id] : [];
  }

  restore(segments: readonly Omit<SegmentParts, 'id'>[], model: string | undefined): void {
    this.model = model;
    this.set(segments.map((parts) => hold({ ...parts, id: ++this.lastId })));
  }

  drop(ids: ReadonlySet<number>): void {
    this.set(this.held.filter(({ parts }) => !ids.has(parts.id)));
  }

  /** Discards all vectors if the model changed. */
  useModel(model: string): void {
    const isOther = this.model !== undefined && this.model !== model;
    if (isOther) this.set(this.held.map(({ parts }) => hold({ ...parts, vectors: undefined })));
    this.model = model;
  }

  /** Texts of live documents without a vector. */
  missing(limit: number, except: ReadonlySet<string>): TextWithoutVector[] {
    const found: TextWithoutVector[] = [];
    for (const { open } of this.held) {
      const { segment, vectors, id } = open;
      for (let text = 0; text < segment.textCount && found.length < limit; text += 1) {
        if (vectors?.has(text)) continue;
        const document = liveDocumentOf(open, text);
        const digest = segment.digest(text);
        if (document === undefined || except.has(digest)) continue;
        const uid = segment.uids.at(segment.memberStarts[document] as number);
        found.push({ segment: id, text, digest, uid, name: segment.names.at(document) });
      }
    }
    return found;
  }

  /** Sets the vectors of texts that `missing` returned. Vectors of another size replace all existing ones. */
  setVectors(texts: readonly (TextWithoutVector & StoredVector)[]): void {
    const size = texts[0]?.vector.length;
    if (size === undefined) return;
    if (this.held.some(({ parts }) => parts.vectors?.dimensions !== size)) {
      this.set(this.held.map((each) => withVectors(each, size)));
    }
    for (const { segment, text, vector } of texts) {
      const target = this.heldAs(segment);
      if (!target?.open.vectors || target.open.vectors.has(text)) continue;
      target.open.vectors.set(text, vector);
      target.counts.embedded += 1;
    }
  }

  private set(next: readonly Held[]): void {
    this.held = next.filter(({ open }) => open.liveCount > 0);
    this.version += 1;
  }

  private heldAs(id: number): Held | undefined {
    return this.held.find(({ parts }) => parts.id === id);
  }

  private newSegment(block: SharedArrayBuffer, vectors?: SegmentParts['vectors']): Held {
    const id = ++this.lastId;
    const { documentCount } = openSegment(block);
    return hold({ id, block, dead: new SharedArrayBuffer(documentCount), ...(vectors && { vectors }) });
  }
}

function sizeClass(documents: number): number {
  return Math.floor(Math.log(Math.max(documents, SMALLEST_SIZE) / SMALLEST_SIZE) / Math.log(SEGMENTS_OF_ONE_SIZE));
}

function hold(parts: SegmentParts, before?: OpenSegment): Held {
  const open = openParts(parts, before);
  return { parts, open, counts: countsOf(open) };
}

function bury(held: Held, documents: readonly number[]): Held {
  if (documents.length === 0) return held;
  const { parts, open } = held;
  // A copy, because threads may be ranking with the old one.
  const dead = parts.dead.slice();
  const flags = new Uint8Array(dead);
  for (const document of documents) flags[document] = 1;
  return hold({ ...parts, dead }, open);
}

function withVectors(each: Held, size: number): Held {
  if (each.parts.vectors?.dimensions === size) return each;
  return hold({ ...each.parts, vectors: createVectorBlock(size, each.open.segment.textCount) }, each.open);
}

function countsOf(open: OpenSegment): IndexSizes {
  const { segment, dead, liveCount, vectors } = open;
  let entities = segment.memberCount;
  for (let document = 0; document < dead.length; document += 1) {
    if (dead[document] === 0) continue;
    entities -= (segment.memberStarts[document + 1] as number) - (segment.memberStarts[document] as number);
  }
  let [texts, embedded] = [0, 0];
  for (let text = 0; text < segment.textCount; text += 1) {
    if (liveDocumentOf(open, text) === undefined) continue;
    texts += 1;
    if (vectors?.has(text)) embedded += 1;
  }
  return { entities, families: liveCount, texts, embedded };
}

function liveDocumentOf({ segment, dead }: OpenSegment, text: number): number | undefined {
  const { textDocuments, textDocumentStarts } = segment;
  const end = textDocumentStarts[text + 1] as number;
  for (let position = textDocumentStarts[text] as number; position < end; position += 1) {
    const document = textDocuments[position] as number;
    if (dead[document] === 0) return document;
  }
  return undefined;
}
