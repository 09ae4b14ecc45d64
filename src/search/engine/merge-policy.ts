// Selects segments to merge: several of about the same size, or one with many dead documents.
import type { OpenSegment } from '../index/snapshot.ts';

/** This many segments of one size class are merged into one of the next. */
const SEGMENTS_OF_ONE_SIZE = 4;
const SMALLEST = 64;
const MOST_DEAD = 0.3;

/** Returns segment ids; empty when nothing needs merging. */
export function segmentsToMerge(
  segments: readonly Pick<OpenSegment, 'id' | 'liveCount' | 'dead'>[],
): readonly number[] {
  const bySize = Map.groupBy(segments, ({ liveCount }) => sizeClass(liveCount));
  const [smallest] = [...bySize].filter(([, same]) => same.length >= SEGMENTS_OF_ONE_SIZE).sort(([a], [b]) => a - b);
  if (smallest) return smallest[1].map(({ id }) => id);
  const decayed = segments.find(
    ({ liveCount, dead }) => dead.length > SMALLEST && liveCount < (1 - MOST_DEAD) * dead.length,
  );
  return decayed ? [decayed.id] : [];
}

function sizeClass(documents: number): number {
  return Math.floor(Math.log(Math.max(documents, SMALLEST) / SMALLEST) / Math.log(SEGMENTS_OF_ONE_SIZE));
}
