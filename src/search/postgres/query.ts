// A query's text → the terms to look for in PostgreSQL, with what each is worth. Nothing in it is an operator.

import { HIGHEST_IMPACT } from '../impacts.ts';
import { editDistance } from '../typing-errors.ts';
import { STOP_TERMS, STOP_WORDS, type Word, wordsOf } from '../words.ts';
import { quoted } from './document-words.ts';
import type { SearchReads } from './store.ts';

export interface QueryTerm {
  /** What the query says. */
  word: string;
  terms: readonly string[];
  /** A `tsquery` for any of the terms. */
  query: string;
  weight: number;
  /** Rarer is more. */
  rarity: number;
  /** Documents that hold one of them, at most. */
  documents: number;
  why: 'word' | 'part' | 'typing error' | 'beginning';
}

export interface LexicalQuery {
  terms: readonly QueryTerm[];
  /** About what a document would get that holds every word where it counts most. */
  best: number;
  /** Distinct words that say something. */
  wordCount: number;
  /** Whether it reads like a name rather than like a need. */
  isName: boolean;
}

type Vocabulary = Pick<SearchReads, 'frequencies' | 'startingWith' | 'similar'>;

const MOST_WORDS = 48;
/** Each costs a comparison with every candidate; the rarest ones decide. */
const MOST_TERMS = 24;
const MOST_MISSPELT = 3;
const MOST_SIMILAR = 3;
const MOST_BEGINNING = 40;
const SHORTEST_BEGINNING = 3;
/** Shorter words have too many neighbours, longer ones are not words. */
const FUZZY_LENGTHS = { least: 4, most: 40 };
/** From this length on, two typing errors are forgiven. */
const LONG_WORD = 9;
const KNOWN_BEGINNING_WEIGHT = 0.3;
const BEGINNING_WEIGHT = 0.6;
const PART_WEIGHT = 0.7;

/** `size` is the number of documents. */
export async function readQuery(text: string, vocabulary: Vocabulary, size: number): Promise<LexicalQuery> {
  const all = wordsOf(text);
  const telling = all.filter((word) => !STOP_WORDS.has(word.text));
  // A query of stop words only means them.
  const words = distinct(telling.length > 0 ? telling : all).slice(0, MOST_WORDS);
  const known = await vocabulary.frequencies(words.flatMap(({ term, parts }) => [term, ...parts]));
  const last = /[\p{L}\p{N}]$/u.test(text.trimEnd()) ? all.at(-1)?.term : undefined;
  const unknown = words.filter(({ term }) => !known.has(term)).slice(0, MOST_MISSPELT);
  const [beginning, ...corrected] = await Promise.all([
    wordsBeginningLike(words.find(({ term }) => term === last && (!known.has(term) || words.length === 1))),
    ...unknown.map(corrections),
  ]);

  const rarity = (documents: number) => Math.log(1 + (size + 0.5) / (documents + 0.5));
  const terms = words.flatMap(({ term, text: word, parts }) => {
    const found: QueryTerm[] = [];
    const add = (forms: readonly string[], weight: number, why: QueryTerm['why']) => {
      const documents = forms.reduce((sum, form) => sum + (known.get(form) ?? 0), 0);
      if (documents === 0) return;
      const query = forms.map(quoted).join(' | ');
      found.push({ word, terms: forms, query, weight, rarity: rarity(documents), documents, why });
    };
    const isKnown = known.has(term);
    if (isKnown) add([term], 1, 'word');
    if (beginning?.word === word) {
      add(beginning.longer, isKnown ? KNOWN_BEGINNING_WEIGHT : BEGINNING_WEIGHT, 'beginning');
    }
    if (isKnown) return found;
    for (const part of parts) add([part], PART_WEIGHT, 'part');
    for (const { term: similar, likeness } of corrected.find((each) => each.term === term)?.similar ?? []) {
      add([similar], likeness * likeness, 'typing error');
    }
    return found;
  });
  return {
    terms: terms.toSorted((a, b) => b.weight * b.rarity - a.weight * a.rarity).slice(0, MOST_TERMS),
    best: words.reduce((sum, { term }) => sum + rarity(known.get(term) ?? 0), 0) * HIGHEST_IMPACT,
    wordCount: words.length,
    isName: isName(text),
  };

  async function wordsBeginningLike(word: Word | undefined) {
    if (!word || word.text.length < SHORTEST_BEGINNING) return undefined;
    const longer = withoutStopWords(await vocabulary.startingWith(word.text, MOST_BEGINNING));
    return { word: word.text, longer: longer.filter((term) => term !== word.term) };
  }

  /** Known terms that one or two typing errors make of this one, best first. */
  async function corrections({ term }: Word) {
    if (term.length < FUZZY_LENGTHS.least || term.length > FUZZY_LENGTHS.most) return { term, similar: [] };
    const mostErrors = term.length >= LONG_WORD ? 2 : 1;
    const lengths = { least: term.length - mostErrors, most: term.length + mostErrors };
    const similar = withoutStopWords(await vocabulary.similar(term, lengths))
      .map((candidate) => ({ term: candidate, errors: editDistance(term, candidate, mostErrors) }))
      .filter(({ errors }) => errors <= mostErrors)
      .toSorted((a, b) => a.errors - b.errors || (a.term < b.term ? -1 : 1))
      .slice(0, MOST_SIMILAR)
      .map((found) => ({ term: found.term, likeness: 1 - found.errors / term.length }));
    return { term, similar };
  }

  /** Without stop words: nobody who types `four` means `for`, which half of the catalog holds. */
  function withoutStopWords(found: ReadonlyMap<string, number>): string[] {
    for (const [term, documents] of found) known.set(term, documents);
    return [...found.keys()].filter((term) => !STOP_TERMS.has(term));
  }
}

/** `ts_rank` divides by this, and by the number of alternatives. */
const RANK_DIVISOR = 1.64493406685;

/** What the rank of a document by each term is to be multiplied with to become a score. */
export function scoredTerms(terms: readonly QueryTerm[]): { query: string; factor: number }[] {
  return terms.map(({ query, terms: forms, weight, rarity }) => ({
    query,
    factor: weight * rarity * HIGHEST_IMPACT * forms.length * RANK_DIVISOR,
  }));
}

/** So many documents are scored for each query; the words that most documents hold decide little. */
const MOST_SCORED = 3_000;

/**
 * Documents to score, as a `tsquery`: those with one of the rarest words, and those with two of the others, as long as
 * these are not too many.
 */
export function candidateQuery(terms: readonly QueryTerm[]): string | undefined {
  const rarest = terms.toSorted((a, b) => a.documents - b.documents);
  const chosen: string[] = [];
  let documents = 0;
  for (const term of rarest) {
    if (chosen.length > 0 && documents + term.documents > MOST_SCORED) break;
    documents += term.documents;
    chosen.push(`(${term.query})`);
  }
  return chosen.length === 0 ? undefined : chosen.join(' | ');
}

/** One run of letters with separators inside: `io.github.owner/thing`, `pdf-tables`, `mcp_server:x@1`. */
function isName(text: string): boolean {
  const trimmed = text.trim();
  return !/\s/.test(trimmed) && /[\p{L}\p{N}][-._/:@][\p{L}\p{N}]/u.test(trimmed);
}

function distinct(words: readonly Word[]): Word[] {
  return [...new Map(words.map((word) => [word.term, word])).values()];
}
