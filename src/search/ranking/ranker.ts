// Ranks the index for a query: finds candidates by name, words and meaning, then computes one score for each.
import { recencyAt } from '../../catalog/quality.ts';
import { FIELDS } from '../document.ts';
import { type FoundHits, type Hit, MOST_HITS, type RankRequest } from '../engine/engine.ts';
import { countsFrom } from '../facet-values.ts';
import { countFacets } from '../index/facets.ts';
import { IS_DEPRECATED, IS_DISABLED, membersOf, postingsAt, type Segment } from '../index/segment.ts';
import { IMPACT_STEP } from '../index/segment-builder.ts';
import type { OpenSegment, Snapshot } from '../index/snapshot.ts';
import { ORDER_OF, ORDERS } from '../sort.ts';
import { type ByDocument, byMeaning, byWords, findNames, type Named } from './candidates.ts';
import {
  type Candidate,
  clamp01,
  explanationOf,
  finalScore,
  isUnrelated,
  leastNearness,
  type MergeWeights,
  rounded,
  weightsFor,
} from './merge.ts';
import { type IndexQuery, readQuery } from './query.ts';

interface RankTask extends RankRequest {
  now: Date;
  /** The vector of the query; absent in a keyword search. */
  vector: Float32Array | undefined;
}

interface Found extends Candidate {
  segment: Segment;
  document: number;
  member: number;
  final: number;
}

export function rank(index: Snapshot, task: RankTask): FoundHits {
  const { text, filters, mode, vector } = task;
  const words = readQuery(text, index);
  const named = findNames(index, text, { filters, withNear: words.hasRare });
  const lexical = mode === 'semantic' ? [] : byWords(index, words, filters);
  const also = index.segments.map((_, at) => [...(lexical[at]?.keys() ?? []), ...(named[at]?.keys() ?? [])]);
  const semantic = vector ? byMeaning(index, vector, { filters, also }) : [];
  const query = { index, task, words, weights: weightsFor(isEmpty(semantic) ? 'keyword' : mode, words) };
  const found = index.segments.flatMap((open, at) =>
    scored(open, { lexical: lexical[at], semantic: semantic[at], named: named[at] }, query),
  );
  const isFound = isRelatedByWords(found, query) || isNearAny(semantic, words, index.textCount);
  const best = isFound ? found.sort(byScore).slice(0, MOST_HITS) : [];
  if (task.sort !== 'relevance') best.sort(ORDERS[ORDER_OF[task.sort]]);
  return {
    hits: best.slice(0, task.limit).map((each) => hitFrom(each, query)),
    total: best.length,
    ...(task.withFacets &&
      countsFrom(countFacets(best.map(({ segment, member }) => ({ segment, members: [member] }))), task.facetText)),
  };
}

interface Query {
  index: Snapshot;
  task: RankTask;
  words: IndexQuery;
  weights: MergeWeights;
}

interface Candidates {
  lexical: ByDocument<number> | undefined;
  semantic: ByDocument<number> | undefined;
  named: ByDocument<Named> | undefined;
}

function scored(open: OpenSegment, candidates: Candidates, { index, task, words, weights }: Query): Found[] {
  const { segment } = open;
  const choice = index.choose(open, task.filters);
  const scoredMembers: Found[] = [];
  const documents = new Set(
    [candidates.named, candidates.lexical, candidates.semantic].flatMap((each) => [...(each?.keys() ?? [])]),
  );
  for (const document of documents) {
    const newest = choice.members[document] as number;
    if (newest < 0 || open.dead[document] === 1) continue;
    const name = candidates.named?.get(document);
    const lexical = clamp01((candidates.lexical?.get(document) ?? 0) / (words.best || 1));
    const match = { lexical, semantic: candidates.semantic?.get(document), named: name?.match };
    if (isUnrelated(match)) continue;
    // All versions, or the version named in the query, or the newest one.
    const asked = name?.member !== undefined && choice.meets(name.member) ? name.member : newest;
    const shown = task.versions === 'latest' ? [asked] : membersOf(segment, document).filter(choice.meets);
    for (const member of shown) {
      const quality = segment.qualities[member] as number;
      const recency = recencyAt(segment.published[member] as number, task.now);
      const isDeprecated = ((segment.flags[member] as number) & (IS_DEPRECATED | IS_DISABLED)) !== 0;
      const final = finalScore({ ...match, quality, recency, isDeprecated }, weights);
      if (final > 0) scoredMembers.push({ ...match, segment, document, member, quality, recency, isDeprecated, final });
    }
  }
  return scoredMembers;
}

function hitFrom(found: Found, query: Query): Hit {
  const { segment, document, lexical, recency, final } = found;
  const hit: Hit = {
    uid: segment.uids.at(found.member),
    lexical,
    semantic: clamp01(found.semantic ?? 0),
    quality: rounded(clamp01(found.quality)),
    recency,
    final,
    versionCount: membersOf(segment, document).length,
  };
  return query.task.explain ? { ...hit, explanation: explain(found, hit, query) } : hit;
}

const isEmpty = (found: readonly ReadonlyMap<unknown, unknown>[]) => found.every(({ size }) => size === 0);

/** Semantic search compares no words, so there a known word is enough. */
function isRelatedByWords(found: readonly Found[], { task, words }: Query): boolean {
  if (task.mode === 'semantic' && words.terms.length > 0) return true;
  return found.some(({ lexical, named }) => lexical > 0 || named !== undefined);
}

/** A query without words is near nothing. */
function isNearAny(cosines: readonly ByDocument<number>[], { wordCount }: IndexQuery, texts: number): boolean {
  const least = leastNearness(texts);
  return wordCount > 0 && cosines.some((each) => [...each.values()].some((cosine) => cosine >= least));
}

function byScore(one: Found, other: Found): number {
  return other.final - one.final || one.segment.uids.compare(one.member, other.segment.uids, other.member);
}

function explain({ segment, document, named }: Found, hit: Hit, { index, words, weights }: Query) {
  const terms = words.terms.map(({ term, word, weight, why }) => {
    const posting = postingsAt(segment, segment.terms.find(term)).find((each) => each.document === document);
    const fields = FIELDS.filter((_, field) => ((posting?.fields ?? 0) & (1 << field)) !== 0);
    const impact = (posting?.impact ?? 0) * IMPACT_STEP;
    return { word, term, why, fields, weight: rounded(weight), score: rounded(weight * impact * index.rarity(term)) };
  });
  return explanationOf(hit, { terms, best: words.best, weights, named });
}
