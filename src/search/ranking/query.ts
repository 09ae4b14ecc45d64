// A query's text → the terms to look for, with what each is worth. Nothing in it is an operator.
import { HIGHEST_IMPACT } from '../impacts.ts';
import type { Snapshot } from '../index/snapshot.ts';
import { STOP_WORDS, type Word, wordsOf } from '../words.ts';
import { similarTerms, termsStartingWith } from './vocabulary.ts';

interface QueryTerm {
  term: string;
  /** What the query says, when the term is not that. */
  word: string;
  weight: number;
  why: 'word' | 'part' | 'typing error' | 'beginning';
}

export interface LexicalQuery {
  terms: readonly QueryTerm[];
  /** About what a document would get that holds every word where it counts most. */
  best: number;
  /** Distinct words other than stop words. */
  wordCount: number;
  /** Whether it reads like a name rather than like a need. */
  isName: boolean;
}

/** Words beyond these are ignored. */
const MOST_WORDS = 48;
/** Looking for typing errors compares a word with all others: longer queries have enough known words. */
const MOST_FUZZY_WORDS = 3;
const MOST_SIMILAR = 3;
const MOST_BEGINNING = 40;
const SHORTEST_BEGINNING = 3;
/** A known word may still be the beginning of another, when it is typed alone. */
const KNOWN_BEGINNING_WEIGHT = 0.3;
const BEGINNING_WEIGHT = 0.6;
const PART_WEIGHT = 0.7;

export function readQuery(text: string, index: Snapshot): LexicalQuery {
  const all = wordsOf(text);
  const telling = all.filter((word) => !STOP_WORDS.has(word.text));
  // A query of stop words only means them.
  const words = distinct(telling.length > 0 ? telling : all).slice(0, MOST_WORDS);
  const last = /[\p{L}\p{N}]$/u.test(text.trimEnd()) ? all.at(-1)?.term : undefined;
  let fuzzyLeft = MOST_FUZZY_WORDS;
  const terms = words.flatMap((word) => {
    const isKnown = index.frequency(word.term) > 0;
    const mayBeMisspelt = !isKnown && fuzzyLeft-- > 0;
    return termsFor(word, { index, isKnown, mayBeMisspelt, mayGoOn: word.term === last, isAlone: words.length === 1 });
  });
  const best = words.reduce((sum, { term }) => sum + index.rarity(term), 0) * HIGHEST_IMPACT;
  return { terms, best, wordCount: words.length, isName: isName(text) };
}

interface TermContext {
  index: Snapshot;
  isKnown: boolean;
  mayBeMisspelt: boolean;
  /** Whether it may be unfinished. */
  mayGoOn: boolean;
  isAlone: boolean;
}

function termsFor({ text, term, parts }: Word, context: TermContext): QueryTerm[] {
  const { index, isKnown, mayBeMisspelt, mayGoOn, isAlone } = context;
  const terms = new Map<string, QueryTerm>();
  const add = (found: string, weight: number, why: QueryTerm['why']) => {
    if (!terms.has(found)) terms.set(found, { term: found, word: text, weight, why });
  };
  if (isKnown) add(term, 1, 'word');
  if (mayGoOn && text.length >= SHORTEST_BEGINNING && (!isKnown || isAlone)) {
    const weight = isKnown ? KNOWN_BEGINNING_WEIGHT : BEGINNING_WEIGHT;
    for (const longer of termsStartingWith(index, text, MOST_BEGINNING)) add(longer, weight, 'beginning');
  }
  if (isKnown) return [...terms.values()];
  for (const part of parts) add(part, PART_WEIGHT, 'part');
  const similar = mayBeMisspelt ? similarTerms(index, term, MOST_SIMILAR) : [];
  for (const { term: other, likeness } of similar) add(other, likeness * likeness, 'typing error');
  return [...terms.values()];
}

/** One run of letters with separators inside: `io.github.owner/thing`, `pdf-tables`, `mcp_server:x@1`. */
function isName(text: string): boolean {
  const trimmed = text.trim();
  return !/\s/.test(trimmed) && /[\p{L}\p{N}][-._/:@][\p{L}\p{N}]/u.test(trimmed);
}

function distinct(words: readonly Word[]): Word[] {
  return [...new Map(words.map((word) => [word.term, word])).values()];
}
