// Names, slugs and titles as terms of the index: a query that is one of them means that document.
import { editDistance } from '../../lib/typing-errors.ts';
import { nameKey } from '../words.ts';
import { postingsAt, type Segment } from './segment.ts';

/** `whole`: the name or a slug as it is; `part`: its title, or the last part of its name; `near`: one of these with one typing error. */
export type NameMatch = 'whole' | 'part' | 'near';

/** Terms of names begin with one of these characters, which no word holds. */
const WHOLE = '\u0001';
const PART = '\u0002';
/** Names written backwards, to find those with a typing error in their first half. */
const BACKWARDS = '\u0003';

/** One letter names nothing. */
const SHORTEST_NAME = 2;
/** Shorter names are one letter away from too many others. */
const SHORTEST_NEAR = 6;
/** Bounds the work for a beginning that very many names share. */
const MOST_COMPARED = 5_000;

/** `names` are the name and the slugs; `parts` its last part and the title. */
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

/** Documents that go by this name, however it is written. */
export function findNamed(segment: Segment, text: string): Map<number, NameMatch> {
  const key = nameKey(text);
  const found = new Map<number, NameMatch>();
  if (!isName(key)) return found;
  const add = (place: number, match: NameMatch) => {
    for (const document of documentsAt(segment, place)) found.set(document, match);
  };
  for (const place of placesNear(segment, key)) add(place, 'near');
  add(segment.terms.find(PART + key), 'part');
  add(segment.terms.find(WHOLE + key), 'whole');
  return found;
}

/** Documents that have a version with this slug, perhaps among others. */
export function findSlug(segment: Segment, slug: string): number[] {
  return documentsAt(segment, segment.terms.find(WHOLE + nameKey(slug)));
}

function documentsAt(segment: Segment, place: number): number[] {
  return postingsAt(segment, place).map(({ document }) => document);
}

/** One error leaves the first half of a name as it was, or the last one: names are sorted by both. */
function placesNear({ terms }: Segment, key: string): number[] {
  if (key.length < SHORTEST_NEAR) return [];
  const half = Math.floor((key.length - 2) / 2);
  const backwards = reversed(key);
  const beginnings: [string, string][] = [
    [WHOLE, key],
    [PART, key],
    [BACKWARDS, backwards],
  ];
  return beginnings.flatMap(([kind, name]) => {
    const [start, end] = terms.startingWith(kind + name.slice(0, half));
    const places: number[] = [];
    for (let place = start; place < Math.min(end, start + MOST_COMPARED); place += 1) {
      if (editDistance(name, terms.at(place).slice(1), 1) === 1) places.push(place);
    }
    return places;
  });
}

export function isName(key: string): boolean {
  return key.length >= SHORTEST_NAME;
}

function reversed(text: string): string {
  return [...text].reverse().join('');
}
