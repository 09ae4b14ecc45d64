// What is said about an answer from which something is missing.
import type { IndexSizes } from './engine.ts';

/** What a search was answered from. */
export interface IndexShown {
  /** Undefined: the index is still being built. */
  revision: number | undefined;
  isBehind: boolean;
  sizes: IndexSizes;
}

export interface Meaning {
  /** Why it took no part although it was requested. */
  trouble?: string;
  isUsed: boolean;
  isStandIn: boolean;
}

/** So many vectors may be missing without a word about it: they are being computed. */
const FEW_MISSING = 0.05;
const BEHIND = 'The index is not up to date yet: recent changes may be missing.';
const STAND_IN = 'The sentence encoder cannot be used here: a simpler model judges meaning, more coarsely.';

/** `isLasting`: the same search has the same answer until the version of the engine moves. */
export function troublesOf(state: IndexShown, meaning?: Meaning): { degraded?: string; isLasting: boolean } {
  const { revision, isBehind, sizes } = state;
  const isBuilding = revision === undefined;
  const passing = [
    ...(isBuilding ? [`The index is still being built: ${sizes.entities} entities so far.`] : []),
    ...(meaning ? meaningTroubles(meaning, sizes) : []),
  ];
  // The version moves when the index is up to date.
  const all = [...passing, ...(isBehind && !isBuilding ? [BEHIND] : []), ...(meaning?.isStandIn ? [STAND_IN] : [])];
  return { ...(all.length > 0 && { degraded: all.join(' ') }), isLasting: passing.length === 0 };
}

function meaningTroubles({ trouble, isUsed }: Meaning, { texts, embedded }: IndexSizes): string[] {
  if (trouble !== undefined) return [`Semantic search is not available (${trouble}). Showing keyword matches only.`];
  if (!isUsed || texts - embedded <= FEW_MISSING * texts) return [];
  return [`Embeddings are ready for ${embedded} of ${texts} texts. The rest are matched by keyword.`];
}
