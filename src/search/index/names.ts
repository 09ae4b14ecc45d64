// Indexes names, slugs and titles as terms, so that a query that equals one of them finds that document.
import { editDistance } from '../../lib/typing-errors.ts';
import { nameKey } from '../words.ts';
import { postingsAt, type Segment } from './segment.ts';

/** `whole`: the full name or a slug; `part`: the title or the last part of the name; `near`: one of these with one typo. */
export type NameMatch = 'whole' | 'part' | 'near';

/** Name terms start with one of these characters, which no word contains. */
const WHOLE = '\u0001';
const PART = '\u0002';
/** Reversed names, to find names with a typo in their first half. */
const BACKWARDS = '\u0003';

/** A single letter is not a name. */
const SHORTEST_NAME = 2;
/** Too many shorter names differ by a single letter. */
const SHORTEST_NEAR = 6;
/** Bounds the work for a prefix that many names share. */
const MOST_COMPARED = 5_000;

/** `names` are the name and its slugs; `parts` are the last part of the name, and the title. */
export function nameTerms(names: readonly [string, ...string[]], parts: readonly string[]): Set<string> {
  const whole = names.map(nameKey);
  const others = parts.map(nameKey).filter(isName);
  return new Set([
    ...whole.map((key) => WHOLE + key),
    ...others.map((key) => PART + key),
    ...[nameKey(names[0]), ...others]
      .filter((key) => key.length >= SHORTEST_NEAR)
      .map((key) => BACKWARDS + reversed(key)),
  ]);
}

/** Documents with this name, in any spelling; `withNear`: or with one typo. */
export function findNamed(segment: Segment, text: string, { withNear }: { withNear: boolean }): Map<number, NameMatch> {
  const key = nameKey(text);
  const found = new Map<number, NameMatch>();
  if (!isName(key)) return found;
  const add = (position: number, match: NameMatch) => {
    for (const document of documentsAt(segment, position)) found.set(document, match);
  };
  if (withNear) for (const position of positionsNear(segment, key)) add(position, 'near');
  add(segment.terms.find(PART + key), 'part');
  add(segment.terms.find(WHOLE + key), 'whole');
  return found;
}

/** Documents that have a version with this slug. */
export function findSlug(segment: Segment, slug: string): number[] {
  return documentsAt(segment, segment.terms.find(WHOLE + nameKey(slug)));
}

function documentsAt(segment: Segment, position: number): number[] {
  return postingsAt(segment, position).map(({ document }) => document);
}

/** A single typo leaves the first or the last half of a name intact, so both are looked up. */
function positionsNear({ terms }: Segment, key: string): number[] {
  if (key.length < SHORTEST_NEAR) return [];
  const half = Math.floor((key.length - 2) / 2);
  return [WHOLE + key, PART + key, BACKWARDS + reversed(key)].flatMap((term) => {
    const [start, end] = terms.startingWith(term.slice(0, 1 + half));
    const name = term.slice(1);
    const positions: number[] = [];
    for (let position = start; position < Math.min(end, start + MOST_COMPARED); position += 1) {
      if (editDistance(name, terms.at(position).slice(1), 1) === 1) positions.push(position);
    }
    return positions;
  });
}

export function isName(key: string): boolean {
  return key.length >= SHORTEST_NAME;
}

function reversed(text: string): string {
  return [...text].reverse().join('');
}
