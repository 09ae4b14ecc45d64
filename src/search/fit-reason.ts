// Explains in one sentence, from the entity's own text, why it matches a query.
import type { StoredSummary } from '../catalog/entity.ts';
import { findMatches, type QueryTerms } from './matches.ts';
import { makeSnippet } from './snippet.ts';

export interface DescribedEntity extends Pick<StoredSummary, 'name' | 'title' | 'summary'> {
  description: string;
  facets: Pick<StoredSummary['facets'], 'tag' | 'capability'>;
}

const MOST_WORDS_NAMED = 5;
/** Only the first sentences are considered: they describe the purpose. */
const MOST_SENTENCES = 40;
const OTHER_WORDS = 'Found by similar words, or by words of its tools or publisher';
const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

/**
 * Names the query words that occur, and quotes the sentence with the most of them. `byMeaning`: whether semantic search
 * contributed; if not, the entity matched by words outside these texts.
 */
export function explainFit(entity: DescribedEntity, terms: QueryTerms, options: { byMeaning: boolean }): string {
  const best = bestSentence(entity, terms);
  const quoted = best && `“${makeSnippet(best.sentence, terms)}”`;
  if (best && best.words.length > 0) return `Mentions ${named(best.words)}: ${quoted}`;
  const { name, title, facets } = entity;
  const inLabels = wordsIn([title ?? '', name, ...facets.capability, ...facets.tag].join(' '), terms);
  if (inLabels.length > 0) return `Has ${named(inLabels)} in its name or tags${quoted ? `: ${quoted}` : '.'}`;
  if (!options.byMeaning) return `${OTHER_WORDS}${quoted ? `: ${quoted}` : '.'}`;
  return quoted ? `Close in meaning: ${quoted}` : `Its name, “${title ?? name}”, is close in meaning.`;
}

/** The first of the sentences with the most matching words. */
function bestSentence({ summary, description }: DescribedEntity, terms: QueryTerms) {
  const [best] = [summary, description]
    .flatMap((text) => [...sentences.segment(text.slice(0, 10_000))].slice(0, MOST_SENTENCES))
    .map(({ segment }) => segment.replace(/\s+/g, ' ').trim())
    .filter((sentence) => sentence !== '')
    .map((sentence) => ({ sentence, words: wordsIn(sentence, terms) }))
    .sort((one, other) => other.words.length - one.words.length);
  return best;
}

function wordsIn(text: string, terms: QueryTerms): string[] {
  return [...new Set(findMatches(text, terms).map(({ word }) => word))];
}

/** `“a”, “b” and “c”` */
function named(words: readonly string[]): string {
  const quoted = words.slice(0, MOST_WORDS_NAMED).map((word) => `“${word}”`);
  const last = quoted.pop();
  return quoted.length > 0 ? `${quoted.join(', ')} and ${last}` : `${last}`;
}
