// The index as the main thread holds it: handles on shared memory, counted, and replaced as a whole with every change.
import { type OpenSegment, openParts, type SegmentParts, type SnapshotParts } from '../index/snapshot.ts';
import { createVectorBlock } from '../index/vectors.ts';
import type { MissingText } from './embed-texts.ts';
import type { IndexSizes } from './engine.ts';
import type { StoredVector } from './search-index.ts';

export interface IndexState {
  /** Moves whenever `parts` change. */
  version(): number;
  parts(): SnapshotParts;
  segments(): readonly OpenSegment[];
  sizes(): IndexSizes;
  /** In one step: new documents come and others are dead. */
  change(change: IndexChange): void;
  /** Puts one segment in the place of several. */
  replace(ids: readonly number[], merged: MergedSegments): void;
  restore(segments: readonly Omit<SegmentParts, 'id'>[], model: string | undefined): void;
  /** Takes segments out. */
  drop(ids: ReadonlySet<number>): void;
  /** Which model the vectors are of. When it is another one than before, they all go. */
  useModel(model: string): void;
  readonly model: string | undefined;
  /** Texts of live documents that have no vector, `limit` of them at most. */
  missing(limit: number, except: ReadonlySet<string>): TextWithoutVector[];
  /** Sets the vectors of the texts that `missing` named. Vectors of another size replace all that are there. */
  setVectors(texts: readonly TextWithoutVector[], vectors: readonly StoredVector[]): void;
}

export interface IndexChange {
  block: SharedArrayBuffer | undefined;
  dead: readonly DeadDocuments[];
}

/** Several segments as one. */
export interface MergedSegments {
  block: SharedArrayBuffer;
  vectors: SegmentParts['vectors'];
  /** For each of the segments, which documents of the new one its documents became; -1 for those that were dead. */
  numbers: readonly Int32Array[];
}

export interface DeadDocuments {
  /** Of a segment. */
  id: number;
  documents: readonly number[];
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

export function createIndexState(): IndexState {
  let held: readonly Held[] = [];
  let version = 0;
  let lastId = 0;
  let model: string | undefined;
  const heldAs = (id: number) => held.find(({ parts }) => parts.id === id);

  const total = (what: keyof IndexSizes) => held.reduce((sum, { counts }) => sum + counts[what], 0);

  function hold(parts: SegmentParts, before?: OpenSegment): Held {
    const open = openParts(parts, before);
    return { parts, open, counts: countsOf(open) };
  }

  function bury({ parts, open }: Held, documents: readonly number[]): Held {
    // A copy: threads that rank at this moment go on with the old one.
    const dead = new SharedArrayBuffer(parts.dead.byteLength);
    const flags = new Uint8Array(dead);
    flags.set(new Uint8Array(parts.dead));
    for (const document of documents) flags[document] = 1;
    return hold({ ...parts, dead }, open);
  }

  function newSegment(block: SharedArrayBuffer, vectors?: SegmentParts['vectors']): Held {
    lastId += 1;
    const parts = { id: lastId, block, dead: new SharedArrayBuffer(0), ...(vectors && { vectors }) };
    const { documentCount } = openParts(parts).segment;
    return hold({ ...parts, dead: new SharedArrayBuffer(documentCount) });
  }

  function set(next: readonly Held[]): void {
    held = next.filter(({ open }) => open.liveCount > 0);
    version += 1;
  }

  function withVectors(each: Held, size: number): Held {
    if (each.parts.vectors?.dimensions === size) return each;
    return hold({ ...each.parts, vectors: createVectorBlock(size, each.open.segment.textCount) }, each.open);
  }

  return {
    version: () => version,
    parts: () => held.map(({ parts }) => parts),
    segments: () => held.map(({ open }) => open),
    sizes: () => ({
      entities: total('entities'),
      families: total('families'),
      texts: total('texts'),
      embedded: total('embedded'),
    }),
    change({ block, dead }) {
      const documents = new Map(dead.map((each) => [each.id, each.documents]));
      const kept = held.map((each) => {
        const gone = documents.get(each.parts.id);
        return gone ? bury(each, gone) : each;
      });
      set(block ? [...kept, newSegment(block)] : kept);
    },
    replace(ids, { block, vectors, numbers }) {
      const merged = newSegment(block, vectors);
      // What died while the segments were merged is dead in the new one, too.
      const dead = ids.flatMap((id, place) => {
        const flags = heldAs(id)?.open.dead ?? new Uint8Array();
        const moved = numbers[place] as Int32Array;
        return Array.from(moved).flatMap((number, document) => (number >= 0 && flags[document] !== 0 ? number : []));
      });
      set([...held.filter(({ parts }) => !ids.includes(parts.id)), dead.length > 0 ? bury(merged, dead) : merged]);
    },
    restore(segments, itsModel) {
      model = itsModel;
      set(segments.map((parts) => hold({ ...parts, id: ++lastId })));
    },
    drop: (ids) => set(held.filter(({ parts }) => !ids.has(parts.id))),
    useModel(used) {
      if (model !== undefined && model !== used) set(held.map(({ parts }) => hold({ ...parts, vectors: undefined })));
      model = used;
    },
    get model() {
      return model;
    },
    missing(limit, except) {
      const found: TextWithoutVector[] = [];
      for (const { open } of held) {
        const { segment, vectors, id } = open;
        for (let text = 0; text < segment.textCount && found.length < limit; text += 1) {
          if (vectors?.has(text)) continue;
          const document = liveDocumentOf(open, text);
          const digest = document === undefined ? '' : segment.digest(text);
          if (document === undefined || except.has(digest)) continue;
          const uid = segment.uids.at(segment.memberStarts[document] as number);
          found.push({ segment: id, text, digest, uid, name: segment.names.at(document) });
        }
      }
      return found;
    },
    setVectors(texts, vectors) {
      const byDigest = new Map(vectors.map(({ digest, vector }) => [digest, vector]));
      const size = vectors[0]?.vector.length;
      if (size === undefined) return;
      if (held.some(({ parts }) => parts.vectors?.dimensions !== size))
        set(held.map((each) => withVectors(each, size)));
      for (const { segment, text, digest } of texts) {
        const vector = byDigest.get(digest);
        const target = heldAs(segment);
        if (!vector || !target?.open.vectors || target.open.vectors.has(text)) continue;
        target.open.vectors.set(text, vector);
        target.counts.embedded += 1;
      }
    },
  };
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
  for (let place = textDocumentStarts[text] as number; place < end; place += 1) {
    const document = textDocuments[place] as number;
    if (dead[document] === 0) return document;
  }
  return undefined;
}
