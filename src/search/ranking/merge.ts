// Combines words, meaning, quality and age into one score. docs/search.md explains the formula.
import type { SearchMode } from '../contract.ts';
import type { Hit } from '../engine/engine.ts';
import type { NameMatch } from '../index/names.ts';

/** A document with its partial scores, which are within 0..1. */
export interface Candidate {
  /** The share of the query's words that the document covers. */
  lexical: number;
  /** Cosine between query and document; a document without a vector is scored by words alone. */
  semantic: number | undefined;
  quality: number;
  recency: number;
  isDeprecated: boolean;
  /** How the query matches its name, if it does. */
  named: NameMatch | undefined;
}

export interface MergeWeights {
  words: number;
  meaning: number;
}

/** Quality and age only decide between otherwise similar documents. */
const QUALITY_WEIGHT = 0.01;
const RECENCY_WEIGHT = 0.01;
const DEPRECATED_FACTOR = 0.8;
/** Named documents rank above all others: each kind has its own range of the scale. */
const NAMED: Record<NameMatch, { from: number; to: number }> = {
  whole: { from: 0.95, to: 1 },
  part: { from: 0.9, to: 0.95 },
  near: { from: 0.85, to: 0.9 },
};
const UNNAMED = { from: 0, to: 0.85 };

/** The weight of words relative to meaning: for a name, and the maximum for other queries. */
const WORDS_IN_NAMES = 2;
const MOST_FOR_WORDS = 1.5;
/** Up to this many words have full weight; longer queries are descriptions. */
const FEW_WORDS = 4;
const LESS_PER_WORD = 2.5;
/** Covering most of the words means a lot, covering a few of them hardly anything. */
const POWER_OF_COVERAGE = 2.5;
/** A document with a smaller cosine is unrelated, unless it covers more than `FEW_COVERED` of the query's words. */
const LEAST_COSINE = { withoutWords: 0.2, withFewWords: 0.12 };
const FEW_COVERED = 0.4;
/** The spread of unrelated texts' cosines around 0. */
const SPREAD_OF_UNRELATED = 0.1;

/** For a name, words count more. For a description, meaning counts more, increasingly with its length. */
export function weightsFor(mode: SearchMode, query: { isName: boolean; wordCount: number }): MergeWeights {
  if (mode === 'keyword') return { words: 1, meaning: 0 };
  if (mode === 'semantic') return { words: 0, meaning: 1 };
  if (query.isName) return { words: WORDS_IN_NAMES, meaning: 1 };
  return { words: MOST_FOR_WORDS * Math.min(1, FEW_WORDS / Math.max(1, query.wordCount)) ** LESS_PER_WORD, meaning: 1 };
}

export function finalScore(candidate: Candidate, weights: MergeWeights): number {
  const { from, to } = candidate.named ? NAMED[candidate.named] : UNNAMED;
  const rest = QUALITY_WEIGHT * clamp01(candidate.quality) + RECENCY_WEIGHT * clamp01(candidate.recency);
  const merged = (1 - QUALITY_WEIGHT - RECENCY_WEIGHT) * matchScore(candidate, weights) + rest;
  return clamp01(from + (to - from) * merged * (candidate.isDeprecated ? DEPRECATED_FACTOR : 1));
}

/** Whether a final score belongs to a document that the query names. */
export function isOfNamed(score: number): boolean {
  return score >= UNNAMED.to;
}

function matchScore({ lexical, semantic }: Candidate, { words, meaning }: MergeWeights): number {
  const covered = clamp01(lexical);
  if (meaning === 0) return covered;
  return (words * covered ** POWER_OF_COVERAGE + meaning * clamp01(semantic ?? covered)) / (words + meaning);
}

export function isUnrelated({ lexical, semantic, named }: Pick<Candidate, 'lexical' | 'semantic' | 'named'>): boolean {
  if (named !== undefined || lexical > FEW_COVERED) return false;
  return lexical === 0 ? (semantic ?? 0) < LEAST_COSINE.withoutWords : (semantic ?? 1) < LEAST_COSINE.withFewWords;
}

/** Whether a result can be explained by its meaning. */
export function isClose(semantic: number): boolean {
  return semantic >= LEAST_COSINE.withoutWords;
}

/** Some text is always nearest: if no word is known, it must be nearer than the nearest of this many unrelated texts. */
export function leastNearness(texts: number): number {
  return SPREAD_OF_UNRELATED * Math.sqrt(2 * Math.log(Math.max(texts, 1)));
}

export interface Explained {
  terms: readonly { score: number }[];
  /** The highest possible score by words. */
  best: number;
  weights: MergeWeights;
  named: NameMatch | undefined;
}

export function explanationOf(hit: Hit, { terms, best, weights, named }: Explained): Record<string, unknown> {
  return {
    terms: terms.filter(({ score }) => score > 0),
    named: named ?? null,
    lexical: { raw: rounded(hit.lexical * best), best_possible: rounded(best), normalized: rounded(hit.lexical) },
    semantic: { cosine: rounded(hit.semantic) },
    weights: { words: rounded(weights.words), meaning: weights.meaning },
    quality: hit.quality,
    recency: hit.recency,
    final: rounded(hit.final),
  };
}

/** Further digits carry no information. */
export function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

/** Limits any input to 0..1. */
export function clamp01(value: number): number {
  return value > 0 ? Math.min(value, 1) : 0;
}
