// How words, meaning, quality and age become one score. docs/search.md explains the formula.
import type { SearchMode } from '../contract.ts';
import type { Hit } from '../engine/engine.ts';
import type { NameMatch } from '../index/names.ts';

/** One document as the parts of search see it; scores are within 0..1. */
export interface Candidate {
  /** How much of what the words of the query ask for is there. */
  lexical: number;
  /** Cosine between the query and the document; what has no vector yet is judged by its words alone. */
  semantic: number | undefined;
  quality: number;
  recency: number;
  isDeprecated: boolean;
  /** Whether the query is its name. */
  named: NameMatch | undefined;
}

export interface MergeWeights {
  words: number;
  meaning: number;
}

/** Quality and age decide between what is otherwise about the same, and never more. */
const QUALITY_WEIGHT = 0.01;
const RECENCY_WEIGHT = 0.01;
const DEPRECATED_FACTOR = 0.8;
/** What is named comes before everything that is not: the scale is shared out. */
const NAMED: Record<NameMatch, { from: number; to: number }> = {
  whole: { from: 0.95, to: 1 },
  part: { from: 0.9, to: 0.95 },
  near: { from: 0.85, to: 0.9 },
};
const UNNAMED = { from: 0, to: 0.85 };

/** Weights of words against 1 for meaning: in a name, and at most in anything else. */
const WORDS_IN_NAMES = 2;
const MOST_FOR_WORDS = 1.5;
/** A query of so many words still gives them their full weight; the longer it is, the more it describes. */
const FEW_WORDS = 4;
const LESS_PER_WORD = 2.5;
/** Most of the words say a lot about a document, a few of them next to nothing. */
const POWER_OF_COVERAGE = 2.5;
/** What shares no word with the query and is further from its meaning than this is unrelated. */
const LEAST_COSINE = 0.2;
/** How far the cosines of unrelated texts are spread around 0. */
const SPREAD_OF_UNRELATED = 0.1;

/** A name trusts words. A described need trusts meaning, the more so the more words it takes. */
export function weightsFor(mode: SearchMode, query: { isName: boolean; wordCount: number }): MergeWeights {
  if (mode === 'keyword') return { words: 1, meaning: 0 };
  if (mode === 'semantic') return { words: 0, meaning: 1 };
  if (query.isName) return { words: WORDS_IN_NAMES, meaning: 1 };
  return { words: MOST_FOR_WORDS * Math.min(1, FEW_WORDS / Math.max(1, query.wordCount)) ** LESS_PER_WORD, meaning: 1 };
}

export function finalScore(candidate: Candidate, weights: MergeWeights): number {
  const { from, to } = candidate.named ? NAMED[candidate.named] : UNNAMED;
  const rest = QUALITY_WEIGHT * unit(candidate.quality) + RECENCY_WEIGHT * unit(candidate.recency);
  const merged = (1 - QUALITY_WEIGHT - RECENCY_WEIGHT) * matchScore(candidate, weights) + rest;
  return unit(from + (to - from) * merged * (candidate.isDeprecated ? DEPRECATED_FACTOR : 1));
}

/** Whether a final score is that of something which the query names. */
export function isOfNamed(score: number): boolean {
  return score >= UNNAMED.to;
}

function matchScore({ lexical, semantic }: Candidate, { words, meaning }: MergeWeights): number {
  const covered = unit(lexical);
  if (meaning === 0) return covered;
  return (words * covered ** POWER_OF_COVERAGE + meaning * unit(semantic ?? covered)) / (words + meaning);
}

export function isUnrelated({ lexical, semantic, named }: Pick<Candidate, 'lexical' | 'semantic' | 'named'>): boolean {
  return lexical === 0 && named === undefined && (semantic ?? 0) < LEAST_COSINE;
}

/** Something is always nearest: when no word is known, it must be nearer than the nearest of so many unrelated texts. */
export function leastNearness(texts: number): number {
  return SPREAD_OF_UNRELATED * Math.sqrt(2 * Math.log(Math.max(texts, 1)));
}

export interface Explained {
  terms: readonly { score: number }[];
  /** The score by words that a document gets at most. */
  best: number;
  weights: MergeWeights;
  named: NameMatch | undefined;
}

export function explanationOf(hit: Hit, { terms, best, weights, named }: Explained): Record<string, unknown> {
  return {
    terms: terms.filter(({ score }) => score > 0),
    named: named ?? null,
    lexical: { raw: rounded(hit.lexical * best), best_possible: rounded(best), normalised: rounded(hit.lexical) },
    semantic: { cosine: rounded(hit.semantic) },
    weights: { words: rounded(weights.words), meaning: weights.meaning },
    quality: hit.quality,
    recency: hit.recency,
    final: rounded(hit.final),
  };
}

/** More digits say nothing; the order stays. */
export function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

/** Whatever comes in, a score is a number within 0..1. */
export function unit(value: number): number {
  return value > 0 ? Math.min(value, 1) : 0;
}
