// Hits as columns: hundreds of them cross over to another thread, or are kept, at a fraction of the cost of as many objects.
import type { EntityUid } from '../catalog/uid.ts';
import type { Hit } from './engine.ts';

export interface HitColumns {
  uids: readonly EntityUid[];
  /** The numbers of the first hit, of the second, and so on. */
  numbers: Float64Array;
}

const NUMBERS = ['lexical', 'semantic', 'quality', 'recency', 'final', 'versionCount'] as const satisfies (keyof Hit)[];

/** Without explanations. */
export function columnsOf(hits: readonly Hit[]): HitColumns {
  const numbers = new Float64Array(hits.length * NUMBERS.length);
  for (const [place, hit] of hits.entries()) {
    for (const [column, name] of NUMBERS.entries()) numbers[place * NUMBERS.length + column] = hit[name];
  }
  return { uids: hits.map(({ uid }) => uid), numbers };
}

export function hitsFrom({ uids, numbers }: HitColumns, explanations?: readonly Hit['explanation'][]): Hit[] {
  return uids.map((uid, place) => {
    const at = (column: number) => numbers[place * NUMBERS.length + column] as number;
    return {
      uid,
      lexical: at(0),
      semantic: at(1),
      quality: at(2),
      recency: at(3),
      final: at(4),
      versionCount: at(5),
      ...(explanations && { explanation: explanations[place] }),
    };
  });
}
