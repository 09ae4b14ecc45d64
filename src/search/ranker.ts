// One query over the collection: candidates by name, words and meaning, then one score for each.
import { recencyScore } from '../catalog/quality.ts';
import { byMeaning, byWords, type Meaning, type Named, namedBy } from './candidates.ts';
import type { Collection, Member } from './collection.ts';
import type { Hit, RankRequest } from './engine.ts';
import { finalScore, type MergeWeights, unit, weightsFor } from './merge.ts';
import type { NameMatch } from './names.ts';
import { type LexicalQuery, readQuery } from './query.ts';
import type { VectorIndex } from './vector-index.ts';

export interface RankTask extends RankRequest {
  now: Date;
  /** None: meaning takes no part. */
  meaning: Meaning | undefined;
}

/** Enough to page through. */
const MOST_HITS = 500;
/** What shares no word with the query and is further from its meaning than this has nothing to do with it. */
const LEAST_COSINE = 0.2;
/** How far the cosines of unrelated texts are spread around 0. */
const SPREAD_OF_UNRELATED = 0.1;
const HOUR_MS = 3_600_000;

export function rank(collection: Collection, vectors: VectorIndex | undefined, task: RankTask): Hit[] {
  const choice = collection.choose(task.filters);
  const named = namedBy(task.text, task.filters, collection);
  const words = readQuery(task.text, collection.words, collection.vocabulary);
  const lexical = task.mode === 'semantic' ? new Map<number, number>() : byWords(collection, words, choice);
  const meaning = task.mode === 'keyword' ? undefined : task.meaning;
  const semantic = byMeaning(collection, vectors, { meaning, choice, also: [...lexical.keys(), ...named.keys()] });
  if (words.terms.length === 0 && named.size === 0 && !isNearAny(semantic, words, collection.texts.size)) return [];
  const weights = weightsFor(semantic.size > 0 ? task.mode : 'keyword', words);
  const isMet = collection.meets(task.filters);

  const hits: Hit[] = [];
  const slots = new Map<Hit, number>();
  for (const slot of new Set([...named.keys(), ...lexical.keys(), ...semantic.keys()])) {
    const newest = choice.members[slot];
    if (!newest) continue;
    const found = {
      lexical: unit((lexical.get(slot) ?? 0) / (words.best || 1)),
      semantic: semantic.get(slot),
      named: named.get(slot)?.match,
    };
    if (isUnrelated(found)) continue;
    const members = task.versions === 'all' ? newest.family.members.filter(isMet) : [meant(named.get(slot)) ?? newest];
    for (const member of members) {
      const hit = hitFor(member, found);
      if (hit.final <= 0) continue;
      hits.push(hit);
      if (task.explain) slots.set(hit, slot);
    }
  }
  const best = hits.sort(byScore).slice(0, MOST_HITS);
  return task.explain ? best.map(explained) : best;

  function explained(hit: Hit): Hit {
    const slot = slots.get(hit) ?? -1;
    return { ...hit, explanation: explain(collection, slot, { hit, words, weights, named: named.get(slot)?.match }) };
  }

  /** The version that the query names, if it may be shown. */
  function meant(name: Named | undefined): Member | undefined {
    const member = name?.uid === undefined ? undefined : collection.member(name.uid);
    return member && isMet(member) ? member : undefined;
  }

  function hitFor(member: Member, { lexical: covered, semantic: cosine, named: match }: Found): Hit {
    const quality = unit(member.quality);
    const recency = recencyOf(member, task.now);
    const isDeprecated = member.status !== 'active';
    return {
      uid: member.uid,
      lexical: covered,
      semantic: unit(cosine ?? 0),
      quality,
      recency,
      final: finalScore({ lexical: covered, semantic: cosine, named: match, quality, recency, isDeprecated }, weights),
      versionCount: member.family.members.length,
    };
  }
}

interface Found {
  lexical: number;
  /** Undefined: its vector has not been made yet. */
  semantic: number | undefined;
  named: NameMatch | undefined;
}

function isUnrelated({ lexical, semantic, named }: Found): boolean {
  return lexical === 0 && named === undefined && (semantic ?? 0) < LEAST_COSINE;
}

/**
 * When the catalog knows no word of the query, something must be nearer than the nearest of so many unrelated texts would
 * be. A query without a letter or digit is near nothing.
 */
function isNearAny(cosines: ReadonlyMap<number, number>, { wordCount }: LexicalQuery, texts: number): boolean {
  const nearestUnrelated = SPREAD_OF_UNRELATED * Math.sqrt(2 * Math.log(Math.max(texts, 1)));
  return wordCount > 0 && [...cosines.values()].some((cosine) => cosine >= nearestUnrelated);
}

/** Dates are read once an hour and not once a query: a thousand of them take longer than all the rest. */
function recencyOf(member: Member, now: Date): number {
  const hour = Math.floor(now.getTime() / HOUR_MS);
  if (member.recency?.hour !== hour) member.recency = { hour, score: recencyScore(member.publishedAt, now) };
  return member.recency.score;
}

/** Ties have a fixed order, so that pages never overlap. */
function byScore(one: Hit, other: Hit): number {
  return other.final - one.final || (one.uid < other.uid ? -1 : 1);
}

function explain(
  { words: index }: Collection,
  slot: number,
  {
    hit,
    words,
    weights,
    named,
  }: { hit: Hit; words: LexicalQuery; weights: MergeWeights; named: NameMatch | undefined },
): Record<string, unknown> {
  const terms = words.terms
    .map(({ term, word, weight, why }) => {
      const { score, fields } = index.matchOf(term, slot);
      return { word, term, why, fields, weight: rounded(weight), score: rounded(weight * score) };
    })
    .filter(({ score }) => score > 0);
  return {
    terms,
    named: named ?? null,
    lexical: {
      raw: rounded(hit.lexical * words.best),
      best_possible: rounded(words.best),
      normalised: rounded(hit.lexical),
    },
    semantic: { cosine: rounded(hit.semantic) },
    weights: { words: rounded(weights.words), meaning: weights.meaning },
    quality: hit.quality,
    recency: hit.recency,
    final: rounded(hit.final),
  };
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
