// One query over the collection: candidates by name, words and meaning, then one score for each.

import { recencyScore } from '../catalog/quality.ts';
import { parseReference } from '../catalog/uid.ts';
import type { Collection, Family, Member } from './collection.ts';
import type { SearchFilters, SearchMode } from './contract.ts';
import type { Hit } from './engine.ts';
import { finalScore, type MergeWeights, unit, weightsFor } from './merge.ts';
import type { NameMatch } from './names.ts';
import { type LexicalQuery, readQuery } from './query.ts';
import type { VectorIndex } from './vector-index.ts';

export interface RankTask {
  text: string;
  filters: SearchFilters;
  mode: SearchMode;
  versions: 'latest' | 'all';
  explain: boolean;
  now: Date;
  /** None: meaning takes no part. */
  meaning: Meaning | undefined;
}

/** The query's vector, or what a database found with it. */
export type Meaning = { vector: Float32Array } | { cosines: readonly { digest: string; cosine: number }[] };

/** Enough to page through. */
const MOST_HITS = 1000;
/** Candidates by words and by meaning; each gets both scores before they are merged. */
const MOST_BY_WORDS = 600;
const MOST_BY_MEANING = 400;

export function rank(collection: Collection, vectors: VectorIndex | undefined, task: RankTask): Hit[] {
  const chosen = collection.choose(task.filters);
  const isShown = (slot: number) => chosen[slot] !== undefined;
  const named = namedBy(task.text, collection);
  const words = readQuery(task.text, collection.words, collection.vocabulary);
  const lexical = task.mode === 'semantic' ? new Map<number, number>() : byWords(collection, words, isShown);
  const semantic = byMeaning(collection, vectors, { task, isShown, also: [...lexical.keys(), ...named.keys()] });
  const weights = weightsFor(semantic.size > 0 ? task.mode : 'keyword', words);

  const slots = new Set([...named.keys(), ...lexical.keys(), ...semantic.keys()].filter(isShown));
  const hits: (Hit & { slot: number })[] = [];
  for (const slot of slots) {
    const family = collection.family(slot);
    if (!family) continue;
    const found = {
      lexical: unit((lexical.get(slot) ?? 0) / (words.best || 1)),
      semantic: semantic.get(slot),
      named: named.get(slot)?.match,
    };
    for (const member of shownMembers(family, chosen[slot] as Member, {
      task,
      collection,
      wanted: named.get(slot)?.uid,
    })) {
      const hit = hitFor(member, family, found, weights, task.now);
      if (hit.final > 0) hits.push({ ...hit, slot });
    }
  }
  hits.sort(byScore);
  return hits
    .slice(0, MOST_HITS)
    .map(({ slot, ...hit }) =>
      task.explain
        ? { ...hit, explanation: explain(collection, slot, { hit, words, weights, named: named.get(slot)?.match }) }
        : hit,
    );
}

/** Which texts a database should compare: all, or those of a narrow filter, and those that words have found. */
export function candidateTexts(
  collection: Collection,
  request: Pick<RankTask, 'text' | 'filters' | 'mode'>,
): { among: string[] | undefined; alsoOf: string[] } {
  const { texts } = collection;
  const chosen = collection.choose(request.filters);
  const isShown = (slot: number) => chosen[slot] !== undefined;
  const digestsOf = (slots: Iterable<number>) => [
    ...new Set([...slots].flatMap((slot) => texts.digest(collection.family(slot)?.text ?? -1) ?? [])),
  ];
  const words = readQuery(request.text, collection.words, collection.vocabulary);
  const found = request.mode === 'semantic' ? [] : [...byWords(collection, words, isShown).keys()];
  const shown = digestsOf(chosen.flatMap((member) => member?.family.slot ?? []));
  return {
    among: shown.length < NARROW * texts.size ? shown : undefined,
    alsoOf: digestsOf([...found, ...namedBy(request.text, collection).keys()]),
  };
}

/** A filter that leaves less than this share of all texts is narrow. */
const NARROW = 0.5;

interface Named {
  match: NameMatch;
  /** The version that the query names. */
  uid?: string;
}

/** Uids, `type:slug`, names and slugs with any separators. */
function namedBy(text: string, collection: Collection): Map<number, Named> {
  const wanted = text.trim();
  const named = new Map<number, Named>();
  const reference = parseReference(wanted);
  for (const [slot, match] of collection.names.find(reference?.slug ?? wanted)) {
    const members = collection.family(slot)?.members ?? [];
    if (reference && members[0]?.type !== reference.type) continue;
    // The slug may belong to one of many versions, which is then the one that is meant.
    const slug = (reference?.slug ?? wanted).toLowerCase();
    const own = members.filter((member) => member.slug.toLowerCase() === slug);
    const exact = own.find(({ version }) => version === reference?.version) ?? (match === 'whole' ? own[0] : undefined);
    named.set(slot, exact ? { match, uid: exact.uid } : { match });
  }
  const exact = collection.member(wanted);
  if (exact?.family.slot !== undefined) named.set(exact.family.slot, { match: 'whole', uid: exact.uid });
  return named;
}

function byWords(
  collection: Collection,
  { terms }: LexicalQuery,
  isShown: (slot: number) => boolean,
): Map<number, number> {
  const sums = new Float32Array(collection.words.capacity);
  const touched: number[] = [];
  for (const { term, weight } of terms) collection.words.collect(term, weight, sums, (slot) => touched.push(slot));
  const shown = touched.filter(isShown);
  const least = nthLargest(
    shown.map((slot) => sums[slot] as number),
    MOST_BY_WORDS,
  );
  return new Map(shown.filter((slot) => (sums[slot] as number) >= least).map((slot) => [slot, sums[slot] as number]));
}

function nthLargest(values: number[], n: number): number {
  if (values.length <= n) return 0;
  return Float32Array.from(values).sort()[values.length - n] as number;
}

interface MeaningContext {
  task: RankTask;
  isShown: (slot: number) => boolean;
  /** Families that words or a name have found: they get their cosine too. */
  also: readonly number[];
}

function byMeaning(
  { texts, family }: Collection,
  vectors: VectorIndex | undefined,
  { task: { meaning, mode }, isShown, also }: MeaningContext,
): Map<number, number> {
  const cosines = new Map<number, number>();
  if (!meaning || mode === 'keyword') return cosines;
  const spread = (text: number, cosine: number) => {
    for (const slot of texts.families(text)) if (isShown(slot)) cosines.set(slot, cosine);
  };
  if ('cosines' in meaning) {
    for (const { digest, cosine } of meaning.cosines) spread(texts.slot(digest) ?? -1, cosine);
    return cosines;
  }
  if (vectors?.dimensions !== meaning.vector.length) return cosines;
  const isEligible = (text: number) => some(texts.families(text), isShown);
  for (const { slot, cosine } of vectors.nearest(meaning.vector, MOST_BY_MEANING, isEligible)) spread(slot, cosine);
  for (const slot of also) {
    const text = family(slot)?.text;
    if (text !== undefined && !cosines.has(slot) && vectors.has(text))
      cosines.set(slot, vectors.cosine(text, meaning.vector));
  }
  return cosines;
}

function some(slots: ReadonlySet<number>, holds: (slot: number) => boolean): boolean {
  for (const slot of slots) if (holds(slot)) return true;
  return false;
}

function shownMembers(
  family: Family,
  newest: Member,
  { task, collection, wanted }: { task: RankTask; collection: Collection; wanted: string | undefined },
): Member[] {
  const isMet = collection.meets(task.filters);
  if (task.versions === 'all') return family.members.filter(isMet);
  const named = wanted === undefined ? undefined : collection.member(wanted);
  return [named && isMet(named) ? named : newest];
}

interface Found {
  lexical: number;
  /** Undefined: its vector has not been made yet. */
  semantic: number | undefined;
  named: NameMatch | undefined;
}

function hitFor(member: Member, family: Family, found: Found, weights: MergeWeights, now: Date): Hit {
  const quality = unit(member.quality);
  const recency = recencyScore(member.publishedAt, now);
  const isDeprecated = member.status !== 'active';
  return {
    uid: member.uid,
    lexical: found.lexical,
    semantic: unit(found.semantic ?? 0),
    quality,
    recency,
    final: finalScore({ ...found, quality, recency, isDeprecated }, weights),
    versionCount: family.members.length,
  };
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
