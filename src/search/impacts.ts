// Computes the weight of each term in a document (BM25F), without the term's rarity.
import { FIELDS, type Field } from './document.ts';
import { nameKey, wordsOf } from './words.ts';

/** For each field: the weight of a word, the usual length, and how strongly a greater length lowers the score. */
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

/** Limits the effect of repetition. */
const SATURATION = 1.2;
/** The maximum weight of a term, before it is multiplied by its rarity. */
export const HIGHEST_IMPACT = SATURATION + 1;

/** Higher for rarer terms. `frequency`: how many of the documents contain the term. */
export function rarityOf(frequency: number, documents: number): number {
  return Math.log(1 + (documents + 0.5) / (frequency + 0.5));
}

/** Field counts are normalized by length, weighted and summed before they saturate. `fields` is a bit set of matching fields. */
export function impactsOf(fields: Readonly<Record<Field, string>>): Map<string, { impact: number; fields: number }> {
  const weights = new Map<string, { weight: number; fields: number }>();
  for (const [position, field] of FIELDS.entries()) {
    const words = wordsOf(fields[field]);
    if (words.length === 0) continue;
    const { weight, usualLength, lengthPenalty } = FIELD_WEIGHTS[field];
    const each = weight / (1 - lengthPenalty + (lengthPenalty * words.length) / usualLength);
    const forms = words.flatMap(({ term, parts }) => (parts.length > 0 ? [...new Set([term, ...parts])] : term));
    // `pdf-table` is also found as `pdftable`, and as near misses of that.
    if (field === 'name' && words.length > 1) forms.push(nameKey(fields.name));
    for (const form of forms) {
      const known = weights.get(form) ?? { weight: 0, fields: 0 };
      weights.set(form, { weight: known.weight + each, fields: known.fields | (1 << position) });
    }
  }
  return new Map(
    Array.from(weights, ([term, { weight, fields: bits }]) => [
      term,
      { impact: (weight * HIGHEST_IMPACT) / (SATURATION + weight), fields: bits },
    ]),
  );
}
