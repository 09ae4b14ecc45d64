// The words of a query, with completions and corrections. Queries have no operators.
import { contentWords, type Word, wordsOf } from '../words.ts';

export interface LexicalQuery<Term> {
  terms: readonly Term[];
  /** Approximately the score of a document with every word in its most important field. */
  best: number;
  /** Distinct words other than stop words. */
  wordCount: number;
  /** Whether a word is so rare that the query may be a misspelled name. */
  hasRare: boolean;
  /** Whether the query looks like a name rather than a description. */
  isName: boolean;
}

/** Terms that a query word matches. */
export interface Expansion {
  forms: readonly string[];
  weight: number;
  why: 'word' | 'part' | 'typing error' | 'beginning';
}

const MOST_WORDS = 48;
/** Finding typos is expensive, and longer queries have enough known words. */
export const MOST_MISSPELLED = 3;
const MOST_SIMILAR = 3;
const MOST_WITH_RARE = 5;
export const MOST_BEGINNING = 40;
const SHORTEST_BEGINNING = 3;
/** Shorter words have too many neighbors; longer strings are not words. */
const SHORTEST_FUZZY = 4;
const LONGEST_FUZZY = 40;
/** Words of at least this length may have two typos. */
const LONG_WORD = 9;
/** A known word that is the whole query may also be the beginning of another word. */
const KNOWN_BEGINNING_WEIGHT = 0.3;
const BEGINNING_WEIGHT = 0.6;
const PART_WEIGHT = 0.7;

/** `mayBeIncomplete`: whether a word may be incomplete, depending on whether the index knows it. */
export function readWords(text: string) {
  const all = wordsOf(text);
  const distinct = new Map(contentWords(all).map((word) => [word.term, word]));
  const words = [...distinct.values()].slice(0, MOST_WORDS);
  const last = /[\p{L}\p{N}]$/u.test(text.trimEnd()) ? all.at(-1)?.term : undefined;
  const mayBeIncomplete = (word: Word, isKnown: boolean) =>
    word.term === last && word.text.length >= SHORTEST_BEGINNING && (!isKnown || words.length === 1);
  return { words, wordCount: words.length, isName: isName(text), mayBeIncomplete };
}

/** A single run of letters with inner separators: `io.github.owner/thing`, `pdf-tables`, `mcp_server:x@1`. */
function isName(text: string): boolean {
  const trimmed = text.trim();
  return !/\s/.test(trimmed) && /[\p{L}\p{N}][-._/:@][\p{L}\p{N}]/u.test(trimmed);
}

interface KnownTerms {
  isKnown: boolean;
  /** Terms that start with the word. */
  longer: readonly string[];
  similar: readonly SimilarTerm[];
}

export function expansionsOf({ term, parts }: Word, { isKnown, longer, similar }: KnownTerms): Expansion[] {
  if (isKnown) {
    return [
      { forms: [term], weight: 1, why: 'word' },
      { forms: longer, weight: KNOWN_BEGINNING_WEIGHT, why: 'beginning' },
    ];
  }
  return [
    { forms: longer, weight: BEGINNING_WEIGHT, why: 'beginning' },
    ...parts.map((part): Expansion => ({ forms: [part], weight: PART_WEIGHT, why: 'part' })),
    ...similar.map(
      (each): Expansion => ({ forms: [each.term], weight: each.likeness * each.likeness, why: 'typing error' }),
    ),
  ];
}

/** Numbers are not corrected: a similar number means something else. */
const NUMBER = /^\p{N}+$/u;

export function mostErrorsIn(term: string): number {
  if (term.length < SHORTEST_FUZZY || term.length > LONGEST_FUZZY || NUMBER.test(term)) return 0;
  return term.length >= LONG_WORD ? 2 : 1;
}

/** `frequency`: in how many documents it occurs. More common words are hardly ever typos. */
export function isRare(frequency: number): boolean {
  return frequency <= MOST_WITH_RARE;
}

export interface SimilarTerm {
  term: string;
  likeness: number;
}

/** The best of the terms that differ from this one by typos: those with the fewest, and of these the most frequent ones. */
export function mostSimilar(
  term: string,
  found: readonly { term: string; errors: number; frequency: number }[],
): SimilarTerm[] {
  return found
    .toSorted((a, b) => a.errors - b.errors || b.frequency - a.frequency || (a.term < b.term ? -1 : 1))
    .slice(0, MOST_SIMILAR)
    .map((each) => ({ term: each.term, likeness: 1 - each.errors / term.length }));
}
