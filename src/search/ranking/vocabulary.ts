// The words of the index, found by their beginning or in spite of typing errors.
import type { Snapshot } from '../index/snapshot.ts';
import { STOP_TERMS } from '../words.ts';

/** Shorter words have too many neighbors; longer ones are not words. */
const SHORTEST_FUZZY = 4;
const LONGEST_FUZZY = 40;
/** Its neighbors are other numbers, which mean something else. */
const IS_NUMBER = /^\p{N}+$/u;
/** From this length on, two errors are forgiven. */
const LONG_WORD = 9;

/** Terms that go on after this beginning, `limit` of them at most. */
export function termsStartingWith({ segments }: Snapshot, beginning: string, limit: number): string[] {
  const found = new Set<string>();
  for (const { segment } of segments) {
    const [start, end] = segment.terms.startingWith(beginning);
    for (let place = start; place < end && place < start + limit; place += 1) {
      const term = segment.terms.at(place);
      // A word that was not finished is not one that says nothing.
      if (term !== beginning && !STOP_TERMS.has(term)) found.add(term);
    }
  }
  return [...found].sort().slice(0, limit);
}

/** Terms that one or two typing errors make of this one, best first. */
export function similarTerms(
  { segments }: Snapshot,
  term: string,
  limit: number,
): { term: string; likeness: number }[] {
  if (term.length < SHORTEST_FUZZY || term.length > LONGEST_FUZZY || IS_NUMBER.test(term)) return [];
  const mostErrors = term.length >= LONG_WORD ? 2 : 1;
  const found = new Map<string, number>();
  for (const { segment } of segments) {
    for (const { term: other, errors } of segment.terms.similar(term, mostErrors)) found.set(other, errors);
  }
  return Array.from(found, ([other, errors]) => ({ term: other, likeness: 1 - errors / term.length }))
    .sort((a, b) => b.likeness - a.likeness || (a.term < b.term ? -1 : 1))
    .slice(0, limit);
}
