// Finds the words of a query in a text.
import { contentWords, isUnspaced, lazyRuns, wordsOf } from './words.ts';

export interface Match {
  start: number;
  end: number;
  /** The query word that matches, in the typed spelling apart from its case. */
  word: string;
}

/** The terms of a query, each with its original word. */
export type QueryTerms = ReadonlyMap<string, string>;

const RUNS = lazyRuns(String.raw`[\p{L}\p{M}\p{N}]`);
/** Nobody reads further, and long texts would delay other requests. */
const LONGEST_TEXT = 20_000;

export function queryTerms(text: string): QueryTerms {
  return new Map(
    contentWords(wordsOf(text)).flatMap(({ text: word, term, parts }) =>
      [term, ...parts].map((form): [string, string] => [form, word]),
    ),
  );
}

export function findMatches(text: string, terms: QueryTerms): Match[] {
  if (terms.size === 0) return [];
  return [...text.slice(0, LONGEST_TEXT).matchAll(RUNS())].flatMap(({ 0: run, index }) => {
    if (isUnspaced(run)) return stretchesOf(run, index, terms);
    const met = formsOf(run).find((form) => terms.has(form));
    return met === undefined ? [] : [{ start: index, end: index + run.length, word: terms.get(met) ?? met }];
  });
}

/** In scripts without spaces, a match is a run of consecutive matching character pairs. */
function stretchesOf(run: string, offset: number, terms: QueryTerms): Match[] {
  const stretches: Match[] = [];
  const letters = [...run];
  let start = offset;
  for (const [position, letter] of letters.entries()) {
    const pair = letter + (letters[position + 1] ?? '');
    const end = start + pair.length;
    if (formsOf(pair).some((form) => terms.has(form))) {
      const last = stretches.at(-1);
      const begin = last && last.end > start ? last.start : start;
      if (begin !== start) stretches.pop();
      stretches.push({ start: begin, end, word: run.slice(begin - offset, end - offset) });
    }
    start += letter.length;
  }
  return stretches;
}

function formsOf(run: string): string[] {
  return wordsOf(run).flatMap(({ term, parts }) => [term, ...parts]);
}
