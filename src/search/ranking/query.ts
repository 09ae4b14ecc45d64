// Turns the text of a query into weighted terms for the index.
import { HIGHEST_IMPACT } from '../impacts.ts';
import type { Snapshot } from '../index/snapshot.ts';
import { STOP_TERMS, type Word } from '../words.ts';
import {
  type Expansion,
  expansionsOf,
  isRare,
  type LexicalQuery,
  MOST_BEGINNING,
  MOST_MISSPELLED,
  mostErrorsIn,
  mostSimilar,
  readWords,
  type SimilarTerm,
} from './query-words.ts';

interface QueryTerm extends Omit<Expansion, 'forms'> {
  term: string;
  /** The original query word, from which the term may differ. */
  word: string;
}

export type IndexQuery = LexicalQuery<QueryTerm>;

export function readQuery(text: string, index: Snapshot): IndexQuery {
  const { words, wordCount, isName, mayBeIncomplete } = readWords(text);
  let misspelled = 0;
  const terms = words.flatMap((word) => {
    const isKnown = index.frequency(word.term) > 0;
    if (!isKnown) misspelled += 1;
    const longer = mayBeIncomplete(word, isKnown) ? termsStartingWith(index, word.text) : [];
    const similar = !isKnown && misspelled <= MOST_MISSPELLED ? similarTerms(index, word.term) : [];
    return distinctTerms(word, expansionsOf(word, { isKnown, longer, similar }));
  });
  const best = words.reduce((sum, { term }) => sum + index.rarity(term), 0) * HIGHEST_IMPACT;
  return { terms, best, wordCount, hasRare: words.some(({ term }) => isRare(index.frequency(term))), isName };
}

function distinctTerms({ text: word }: Word, expansions: readonly Expansion[]): QueryTerm[] {
  const terms = new Map<string, QueryTerm>();
  for (const { forms, weight, why } of expansions) {
    for (const term of forms) if (!terms.has(term)) terms.set(term, { term, word, weight, why });
  }
  return [...terms.values()];
}

function termsStartingWith({ segments }: Snapshot, beginning: string): string[] {
  const found = new Set<string>();
  for (const { segment } of segments) {
    const [start, end] = segment.terms.startingWith(beginning);
    for (let position = start; position < end && position < start + MOST_BEGINNING; position += 1) {
      const term = segment.terms.at(position);
      // An incomplete word does not stand for a stop word.
      if (term !== beginning && !STOP_TERMS.has(term)) found.add(term);
    }
  }
  return [...found].sort().slice(0, MOST_BEGINNING);
}

function similarTerms({ segments, frequency }: Snapshot, term: string): SimilarTerm[] {
  const mostErrors = mostErrorsIn(term);
  if (mostErrors === 0) return [];
  const found = segments.flatMap(({ segment }) => segment.terms.similar(term, mostErrors));
  const distinct = [...new Map(found.map((each) => [each.term, each])).values()];
  return mostSimilar(
    term,
    distinct.map((each) => ({ ...each, frequency: frequency(each.term) })),
  );
}
