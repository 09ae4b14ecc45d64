// Where the words of a query stand in a text.
import { STOP_WORDS, wordsOf } from './words.ts';

export interface Match {
  start: number;
  end: number;
  /** The word of the query that it meets, as it was typed but for its case. */
  word: string;
}

/** Terms of a query, each with the word it comes from. */
export type QueryTerms = ReadonlyMap<string, string>;

const RUNS = /[\p{L}\p{M}\p{N}]+/gu;
/** Nobody reads further, and long texts would hold up others. */
const LONGEST_TEXT = 20_000;

/** Words that say nothing are left out, unless there are no others. */
export function queryTerms(text: string): QueryTerms {
  const words = wordsOf(text);
  const telling = words.filter((word) => !STOP_WORDS.has(word.text));
  return new Map(
    (telling.length > 0 ? telling : words).flatMap(({ text: word, term, parts }) =>
      [term, ...parts].map((form): [string, string] => [form, word]),
    ),
  );
}

export function findMatches(text: string, terms: QueryTerms): Match[] {
  if (terms.size === 0) return [];
  return [...text.slice(0, LONGEST_TEXT).matchAll(RUNS)].flatMap(({ 0: run, index }) => {
    const met = wordsOf(run)
      .flatMap(({ term, parts }) => [term, ...parts])
      .find((form) => terms.has(form));
    return met === undefined ? [] : [{ start: index, end: index + run.length, word: terms.get(met) ?? met }];
  });
}
