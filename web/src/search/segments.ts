// Finds the parts of a text that match the query, by the same rules as the hub.
import { findMatches, queryTerms } from '../../../src/search/matches.ts';
import { wordsOf } from '../../../src/search/words.ts';

export interface Segment {
  part: string;
  isMatch: boolean;
}

interface Stretch {
  start: number;
  end: number;
}

/** Same limit as in the hub: shorter prefixes match too many words. */
const SHORTEST_BEGINNING = 3;

export function segments(text: string, query: string): Segment[] {
  const terms = queryTerms(query);
  const whole = findMatches(text, terms);
  const last = unfinishedWord(query, terms);
  const isMet = whole.some(({ word }) => word === last);
  const found = last && (!isMet || isAlone(terms)) ? [...whole, ...wordsBeginningWith(last, text)] : whole;
  return cut(text, inOrder(found));
}

/** The last word, which may be incomplete. */
function unfinishedWord(query: string, terms: ReadonlyMap<string, string>): string | undefined {
  const last = /[\p{L}\p{N}]$/u.test(query.trimEnd()) ? wordsOf(query).at(-1)?.text : undefined;
  return last && last.length >= SHORTEST_BEGINNING && [...terms.values()].includes(last) ? last : undefined;
}

function isAlone(terms: ReadonlyMap<string, string>): boolean {
  return new Set(terms.values()).size === 1;
}

function wordsBeginningWith(beginning: string, text: string): Stretch[] {
  return [...text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)]
    .filter(([run]) => wordsOf(run)[0]?.text.startsWith(beginning))
    .map(({ 0: run, index }) => ({ start: index, end: index + run.length }));
}

/** Keeps the first of overlapping matches, so that no character is drawn twice. */
function inOrder(found: readonly Stretch[]): Stretch[] {
  const kept: Stretch[] = [];
  for (const stretch of found.toSorted((one, other) => one.start - other.start)) {
    if (stretch.start >= (kept.at(-1)?.end ?? 0)) kept.push(stretch);
  }
  return kept;
}

function cut(text: string, found: readonly Stretch[]): Segment[] {
  const parts: Segment[] = [];
  let at = 0;
  for (const { start, end } of found) {
    parts.push({ part: text.slice(at, start), isMatch: false }, { part: text.slice(start, end), isMatch: true });
    at = end;
  }
  return [...parts, { part: text.slice(at), isMatch: false }].filter(({ part }) => part !== '');
}

/** Highlights only quotes, because the rest of a reason does not come from the entry. */
export function quotedSegments(reason: string, query: string): Segment[] {
  return reason.split(/(“[^”]*”)/).flatMap((part) => {
    if (part === '') return [];
    return part.startsWith('“') ? segments(part, query) : [{ part, isMatch: false }];
  });
}
