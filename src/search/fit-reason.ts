// Why an entity fits a query, in one sentence made from the entity's own text.
import { findMatches, type QueryTerms } from './matches.ts';
import { makeSnippet } from './snippet.ts';

export interface DescribedEntity {
  name: string;
  title: string | null;
  summary: string;
  description: string;
  tags: readonly string[];
  capabilities: readonly string[];
}

const LONGEST_QUOTE = 200;
const MOST_WORDS_NAMED = 5;
/** Sentences that are looked at: the first ones say what a thing is for. */
const MOST_SENTENCES = 40;
const OTHER_WORDS = 'Found by similar words, or by words of its tools or publisher';
const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

/**
 * Names the words of the query that occur, and quotes the sentence that has most of them. `byMeaning`: whether meaning
 * took part in finding it; by words alone, words that are not in these texts did.
 */
export function explainFit(entity: DescribedEntity, terms: QueryTerms, options: { byMeaning: boolean }): string {
  const best = bestSentence(entity, terms);
  const quoted = best && `“${makeSnippet(best.sentence, terms, LONGEST_QUOTE)}”`;
  if (best && best.words.length > 0) return `Mentions ${named(best.words)}: ${quoted}`;
  const inLabels = wordsIn([entity.title ?? '', entity.name, ...entity.capabilities, ...entity.tags].join(' '), terms);
  if (inLabels.length > 0) return `Has ${named(inLabels)} in its name or tags${quoted ? `: ${quoted}` : '.'}`;
  if (!options.byMeaning) return `${OTHER_WORDS}${quoted ? `: ${quoted}` : '.'}`;
  return quoted ? `Close in meaning: ${quoted}` : `Close in meaning by its name, “${entity.title ?? entity.name}”.`;
}

function bestSentence(
  { summary, description }: DescribedEntity,
  terms: QueryTerms,
): { sentence: string; words: string[] } | undefined {
  return [summary, description]
    .flatMap((text) => [...sentences.segment(text.slice(0, 10_000))].slice(0, MOST_SENTENCES))
    .map(({ segment }) => segment.replace(/\s+/g, ' ').trim())
    .filter((sentence) => sentence !== '')
    .map((sentence) => ({ sentence, words: wordsIn(sentence, terms) }))
    .reduce<{ sentence: string; words: string[] } | undefined>(
      // The first of equals.
      (best, each) => (best && best.words.length >= each.words.length ? best : each),
      undefined,
    );
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
