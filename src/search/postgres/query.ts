// Turns the text of a query into weighted terms for PostgreSQL.
import { editDistance } from '../../lib/typing-errors.ts';
import { HIGHEST_IMPACT, rarityOf } from '../impacts.ts';
import {
  type Expansion,
  expansionsOf,
  isRare,
  type LexicalQuery as LexicalQueryOf,
  MOST_BEGINNING,
  MOST_MISSPELLED,
  mostErrorsIn,
  mostSimilar,
  readWords,
  type SimilarTerm,
} from '../ranking/query-words.ts';
import { STOP_TERMS, type Word } from '../words.ts';
import type { SearchReads } from './store.ts';

interface QueryTerm extends Expansion {
  word: string;
  /** A `tsquery` that matches any of the forms. */
  query: string;
  rarity: number;
  /** Upper bound of the documents that contain one of the forms. */
  documents: number;
}

export type LexicalQuery = LexicalQueryOf<QueryTerm>;

type Vocabulary = Pick<SearchReads, 'frequencies' | 'startingWith' | 'similar'>;

/** Each term is compared with every candidate; the rarest ones decide. */
const MOST_TERMS = 24;

/** `size` is the number of documents. */
export async function readQuery(text: string, vocabulary: Vocabulary, size: number): Promise<LexicalQuery> {
  const { words, wordCount, isName, mayBeIncomplete } = readWords(text);
  const known = await vocabulary.frequencies(words.flatMap(({ term, parts }) => [term, ...parts]));
  const isKnown = ({ term }: Word) => known.has(term);
  const unfinished = words.find((word) => mayBeIncomplete(word, isKnown(word)));
  const unknown = words.filter((word) => !isKnown(word));
  const [beginning, ...alike] = await Promise.all([
    unfinished ? vocabulary.startingWith(unfinished.text, MOST_BEGINNING) : new Map<string, number>(),
    ...unknown.slice(0, MOST_MISSPELLED).map(({ term }) => termsLike(term, vocabulary)),
  ]);
  const frequencies = new Map([known, beginning, ...alike].flatMap((found) => [...found]));
  const best = words.reduce((sum, { term }) => sum + rarityOf(known.get(term) ?? 0, size), 0) * HIGHEST_IMPACT;
  const terms = words.flatMap((word) => {
    const longer = word === unfinished ? contentTerms(beginning).filter((term) => term !== word.term) : [];
    const similar = corrections(word.term, alike[unknown.indexOf(word)]);
    return expansionsOf(word, { isKnown: isKnown(word), longer, similar }).map((expansion): QueryTerm => {
      const documents = expansion.forms.reduce((sum, form) => sum + (frequencies.get(form) ?? 0), 0);
      const query = expansion.forms.map(quoted).join(' | ');
      return { ...expansion, word: word.text, query, rarity: rarityOf(documents, size), documents };
    });
  });
  const hasRare = words.some(({ term }) => isRare(known.get(term) ?? 0));
  const worth = ({ weight, rarity }: QueryTerm) => weight * rarity;
  const found = terms.filter(({ documents }) => documents > 0).sort((a, b) => worth(b) - worth(a));
  return { terms: found.slice(0, MOST_TERMS), best, wordCount, hasRare, isName };
}

/** Quotes a term for a `tsvector` or `tsquery`. */
export function quoted(term: string): string {
  return `'${term.replace(/['\\]/g, '$&$&')}'`;
}

async function termsLike(term: string, vocabulary: Vocabulary): Promise<ReadonlyMap<string, number>> {
  const mostErrors = mostErrorsIn(term);
  if (mostErrors === 0) return new Map();
  return vocabulary.similar(term, { least: term.length - mostErrors, most: term.length + mostErrors });
}

function corrections(term: string, alike: ReadonlyMap<string, number> = new Map()): SimilarTerm[] {
  const mostErrors = mostErrorsIn(term);
  const found = contentTerms(alike)
    .map((other) => ({
      term: other,
      errors: editDistance(term, other, mostErrors),
      frequency: alike.get(other) ?? 0,
    }))
    .filter(({ errors }) => errors <= mostErrors);
  return mostSimilar(term, found);
}

/** Excludes stop words: `four` is not a typo of `for`, which half of the catalog contains. */
function contentTerms(found: ReadonlyMap<string, number>): string[] {
  return [...found.keys()].filter((term) => !STOP_TERMS.has(term));
}

/** `ts_rank` divides by this, and by the number of alternatives. */
const RANK_DIVISOR = 1.64493406685;

/** The factors that turn a document's rank for each term into a score. */
export function scoredTerms(terms: readonly QueryTerm[]): { query: string; factor: number }[] {
  return terms.map(({ query, forms, weight, rarity }) => ({
    query,
    factor: weight * rarity * HIGHEST_IMPACT * forms.length * RANK_DIVISOR,
  }));
}

/** How many documents are scored per query; words that most documents contain matter little. */
const MOST_SCORED = 1_000;

/** The documents to score, as a `tsquery`: those with one of the rarest words, up to the limit. */
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
