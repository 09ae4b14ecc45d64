// Runs on a thread of its own: builds, merges, stores and reads segments. It keeps nothing between two tasks.
import { parseReference } from '../../catalog/uid.ts';
import { findSlug } from '../index/names.ts';
import { openSegment, type Segment, typeOf } from '../index/segment.ts';
import { buildSegment, type Family, textToEmbed } from '../index/segment-builder.ts';
import { writeSegment } from '../index/segment-writer.ts';
import { openParts, type SegmentParts, type SnapshotParts } from '../index/snapshot.ts';
import { sourceFromSegment } from '../index/source.ts';
import { createVectorBlock, openVectors, type VectorBlock } from '../index/vectors.ts';
import { type FileKey, readIndexFile, writeIndexFile } from './index-file.ts';
import type { DeadDocuments, IndexChange } from './index-state.ts';
import type { FamilyName } from './search-index.ts';

export type IndexTask =
  | { kind: 'namesOf'; parts: SnapshotParts; uids: readonly string[] }
  | { kind: 'index'; parts: SnapshotParts; families: readonly Family[]; replaced: readonly FamilyName[] }
  | { kind: 'merge'; parts: SnapshotParts }
  | { kind: 'texts'; texts: readonly { name: string; manifest: string; digest: string }[] }
  | { kind: 'save'; parts: SnapshotParts; path: string; key: FileKey }
  | { kind: 'read'; path: string };

export interface IndexResults {
  /** The names under which entities are indexed now. */
  namesOf: FamilyName[];
  index: IndexChange;
  merge: { block: SharedArrayBuffer; vectors: VectorBlock | undefined; numbers: Int32Array[] };
  /** Undefined where a manifest no longer has that text. */
  texts: (string | undefined)[];
  save: undefined;
  /** Undefined when there is no file that can be trusted. */
  read: { key: FileKey; segments: Omit<SegmentParts, 'id'>[] } | undefined;
}

type Handlers = {
  [K in IndexTask['kind']]: (task: Extract<IndexTask, { kind: K }>) => IndexResults[K] | Promise<IndexResults[K]>;
};

const handlers: Handlers = {
  namesOf: ({ parts, uids }) => {
    const segments = parts.map((each) => openParts(each));
    return uids.flatMap((uid) => {
      const slug = parseReference(uid)?.slug ?? '';
      return segments.flatMap(({ segment, dead }) =>
        findSlug(segment, slug)
          .filter((document) => dead[document] === 0 && holds(segment, document, uid))
          .map((document) => familyName(segment, document)),
      );
    });
  },
  index: ({ parts, families, replaced }) => ({
    block: families.length > 0 ? buildSegment(families) : undefined,
    dead: parts.flatMap((each) => deadIn(each, replaced)),
  }),
  merge: ({ parts }) => mergeSegments(parts),
  texts: ({ texts }) => texts.map(({ name, manifest, digest }) => textToEmbed(name, manifest, digest)),
  save: async ({ parts, path, key }) => {
    await writeIndexFile(path, key, parts);
    return undefined;
  },
  read: ({ path }) => readIndexFile(path),
};

export default async function run(task: IndexTask): Promise<IndexResults[IndexTask['kind']]> {
  return (handlers[task.kind] as (task: IndexTask) => Promise<IndexResults[IndexTask['kind']]>)(task);
}

function deadIn(parts: SegmentParts, replaced: readonly FamilyName[]): DeadDocuments[] {
  const { id, segment, dead } = openParts(parts);
  const documents = replaced.flatMap(({ type, name }) =>
    // Every name is found as a slug is.
    findSlug(segment, name).filter((document) => {
      const known = familyName(segment, document);
      return dead[document] === 0 && known.name === name && known.type === type;
    }),
  );
  return documents.length > 0 ? [{ id, documents }] : [];
}

function familyName(segment: Segment, document: number): FamilyName {
  const flags = segment.flags[segment.memberStarts[document] as number] as number;
  return { type: typeOf(flags), name: segment.names.at(document) };
}

function holds(segment: Segment, document: number, uid: string): boolean {
  const end = segment.memberStarts[document + 1] as number;
  for (let member = segment.memberStarts[document] as number; member < end; member += 1) {
    if (segment.uids.at(member) === uid) return true;
  }
  return false;
}

function mergeSegments(parts: SnapshotParts): IndexResults['merge'] {
  const opened = parts.map((each) => openParts(each));
  const block = writeSegment(
    opened.map(({ segment, dead }) => sourceFromSegment(segment, (document) => dead[document] === 0)),
  );
  let next = 0;
  const numbers = opened.map(({ dead }) => Int32Array.from(dead, (isDead) => (isDead ? -1 : next++)));
  const dimensions = opened.find(({ vectors }) => vectors)?.vectors?.block.dimensions;
  if (dimensions === undefined) return { block, vectors: undefined, numbers };
  const merged = openSegment(block);
  const vectors = openVectors(createVectorBlock(dimensions, merged.textCount));
  for (const [place, { segment, vectors: before }] of opened.entries()) {
    for (const [document, number] of (numbers[place] as Int32Array).entries()) {
      if (number < 0 || !before) continue;
      vectors.copy(before, segment.texts[document] as number, merged.texts[number] as number);
    }
  }
  return { block, vectors: vectors.block, numbers };
}
