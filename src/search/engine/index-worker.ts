// Worker thread that builds, merges, saves and loads segments. It keeps no state between tasks.
import { parseReference } from '../../catalog/uid.ts';
import { textToEmbed } from '../document.ts';
import { findSlug } from '../index/names.ts';
import { membersOf, openSegment, type Segment, typeOf } from '../index/segment.ts';
import { buildSegment, type Family } from '../index/segment-builder.ts';
import { newNumbers, writeSegment } from '../index/segment-writer.ts';
import { openParts, type SegmentParts, type SnapshotParts } from '../index/snapshot.ts';
import { sourceFromSegment } from '../index/source.ts';
import { createVectorBlock, openVectors } from '../index/vectors.ts';
import type { TextInManifest } from './embed-texts.ts';
import { readIndexFile, writeIndexFile } from './index-file.ts';
import type { IndexChange, MergedSegments } from './index-state.ts';
import type { FamilyName } from './search-index.ts';

const tasks = {
  /** The names under which these entities are currently indexed. */
  namesOf(parts: SnapshotParts, uids: readonly string[]): FamilyName[] {
    const segments = parts.map((each) => openParts(each));
    return uids.flatMap((uid) => {
      const slug = parseReference(uid)?.slug ?? '';
      return segments.flatMap(({ segment, dead }) => {
        const isIn = (document: number) => membersOf(segment, document).some((each) => segment.uids.at(each) === uid);
        const documents = findSlug(segment, slug).filter((document) => dead[document] === 0 && isIn(document));
        return documents.map((document) => familyName(segment, document));
      });
    });
  },
  /** Builds a segment of these families and marks what the parts contain under the replaced names as dead. */
  index(parts: SnapshotParts, families: readonly Family[], replaced: readonly FamilyName[]): IndexChange {
    const dead = new Map(parts.map((each) => [each.id, deadIn(each, replaced)]));
    if (families.length === 0) return { dead };
    const block = buildSegment(families);
    return { block, vectors: keptVectors(openSegment(block), parts, dead), dead };
  },
  merge: mergeSegments,
  /** Undefined where a manifest no longer contains the text. */
  texts: (texts: readonly TextInManifest[]): (string | undefined)[] => texts.map(textToEmbed),
  save: writeIndexFile,
  read: readIndexFile,
};

export type IndexTasks = typeof tasks;

export default function run([kind, ...given]: [keyof IndexTasks, ...unknown[]]): unknown {
  return (tasks[kind] as (...given: unknown[]) => unknown)(...given);
}

function deadIn(parts: SegmentParts, replaced: readonly FamilyName[]): number[] {
  const { segment, dead } = openParts(parts);
  return replaced.flatMap(({ type, name }) =>
    // `findSlug` also matches names.
    findSlug(segment, name).filter((document) => {
      const known = familyName(segment, document);
      return dead[document] === 0 && known.name === name && known.type === type;
    }),
  );
}

/** Entities often change without their text, whose vector is kept: until it is there, the meaning of a text finds nothing. */
function keptVectors(segment: Segment, parts: SnapshotParts, dead: IndexChange['dead']): SegmentParts['vectors'] {
  const dimensions = parts.find(({ vectors }) => vectors)?.vectors?.dimensions;
  if (dimensions === undefined) return undefined;
  const vectors = openVectors(createVectorBlock(dimensions, segment.textCount));
  const texts = new Map(Array.from({ length: segment.textCount }, (_, text) => [segment.digest(text), text]));
  for (const { segment: before, vectors: known, id } of parts.map((each) => openParts(each))) {
    for (const document of dead.get(id) ?? []) {
      const old = before.texts[document] as number;
      const text = texts.get(before.digest(old));
      if (known && text !== undefined) vectors.copy(known, old, text);
    }
  }
  return vectors.block;
}

function familyName(segment: Segment, document: number): FamilyName {
  const flags = segment.flags[segment.memberStarts[document] as number] as number;
  return { type: typeOf(flags), name: segment.names.at(document) };
}

function mergeSegments(parts: SnapshotParts): MergedSegments {
  const opened = parts.map((each) => openParts(each));
  const sources = opened.map(({ segment, dead }) => sourceFromSegment(segment, (document) => dead[document] === 0));
  const block = writeSegment(sources);
  const numbers = newNumbers(sources);
  const dimensions = opened.find(({ vectors }) => vectors)?.vectors?.block.dimensions;
  if (dimensions === undefined) return { block, vectors: undefined, numbers };
  const merged = openSegment(block);
  const vectors = openVectors(createVectorBlock(dimensions, merged.textCount));
  for (const [position, { segment, vectors: before }] of opened.entries()) {
    for (const [document, number] of (numbers[position] as Int32Array).entries()) {
      if (number < 0 || !before) continue;
      vectors.copy(before, segment.texts[document] as number, merged.texts[number] as number);
    }
  }
  return { block, vectors: vectors.block, numbers };
}
