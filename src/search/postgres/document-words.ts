// A document → the `tsvector` that its words are found and scored by.
import { FIELDS, type Field, type SearchDocument } from '../index/document.ts';
import { nameKey, wordsOf } from '../words.ts';
import type { LABEL_WEIGHTS } from './store.ts';

/** How much a word counts by where it stands, what length is usual there, and how much more than that counts against it. */
const FIELD_WEIGHTS: Record<Field, { weight: number; usualLength: number; lengthPenalty: number }> = {
  name: { weight: 2, usualLength: 3, lengthPenalty: 0.3 },
  title: { weight: 2, usualLength: 3, lengthPenalty: 0.3 },
  capabilities: { weight: 2, usualLength: 6, lengthPenalty: 0.3 },
  tags: { weight: 1, usualLength: 6, lengthPenalty: 0.3 },
  summary: { weight: 2, usualLength: 30, lengthPenalty: 0.5 },
  description: { weight: 2, usualLength: 30, lengthPenalty: 0.5 },
  tools: { weight: 0.5, usualLength: 60, lengthPenalty: 0.5 },
  publisher: { weight: 0.5, usualLength: 2, lengthPenalty: 0.3 },
};
/** Where repetition stops to count. */
const SATURATION = 1.2;
export const HIGHEST_IMPACT = SATURATION + 1;

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
    .map(([term, impact]) => `${quoted(term)}:1${LABELS.findLast(({ from }) => impact >= from)?.label}`)
    .join(' ');
}

/** A term as a `tsvector` and a `tsquery` write it. */
export function quoted(term: string): string {
  return `'${term.replace(/['\\]/g, '$&$&')}'`;
}

/** BM25F without the rarity of the term: counts by field, divided by the length of the field, weighted and saturated. */
function impactsOf(fields: Readonly<Record<Field, string>>): Map<string, number> {
  const weights = new Map<string, number>();
  for (const field of FIELDS) {
    const words = wordsOf(fields[field]);
    const { weight, usualLength, lengthPenalty } = FIELD_WEIGHTS[field];
    const each = weight / (1 - lengthPenalty + (lengthPenalty * words.length) / usualLength);
    const forms = words.flatMap(({ term, parts }) => [...new Set([term, ...parts])]);
    // `pdf-table` is also found as `pdftable`, and by what is nearly that.
    if (field === 'name' && words.length > 1) forms.push(nameKey(fields.name));
    for (const form of forms) weights.set(form, (weights.get(form) ?? 0) + each);
  }
  return new Map([...weights].map(([term, weight]) => [term, (weight * HIGHEST_IMPACT) / (SATURATION + weight)]));
}
