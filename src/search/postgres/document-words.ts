// A document → the `tsvector` that its words are found and scored by.
import type { SearchDocument } from '../document.ts';
import { impactsOf } from '../impacts.ts';
import type { LABEL_WEIGHTS } from './store.ts';

/** From which impact on a word gets which label. */
const LABELS: readonly { label: keyof typeof LABEL_WEIGHTS; from: number }[] = [
  { label: 'D', from: 0 },
  { label: 'C', from: 0.7 },
  { label: 'B', from: 1.2 },
  { label: 'A', from: 1.6 },
];
/** A `tsvector` takes no more than a megabyte; a manifest of so many different words is not one to be found by all of them. */
const MOST_WORDS = 5_000;

export function documentWords({ fields }: Pick<SearchDocument, 'fields'>): string {
  return [...impactsOf(fields)]
    .slice(0, MOST_WORDS)
    .map(([term, { impact }]) => `${quoted(term)}:1${LABELS.findLast(({ from }) => impact >= from)?.label}`)
    .join(' ');
}

/** A term as a `tsvector` and a `tsquery` write it. */
export function quoted(term: string): string {
  return `'${term.replace(/['\\]/g, '$&$&')}'`;
}
