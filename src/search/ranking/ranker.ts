// One query over the index: candidates by name, words and meaning, then one score for each.
import { recencyAt } from '../../catalog/quality.ts';
import { FIELDS } from '../document.ts';
import type { Hit, RankRequest } from '../engine/engine.ts';
import type { FacetCounts } from '../facet-values.ts';
import { createFacetCounter } from '../index/facets.ts';
import type { NameMatch } from '../index/names.ts';
import { readPostings } from '../index/postings.ts';
import { IS_DEPRECATED, IS_DISABLED, type Segment } from '../index/segment.ts';
import { IMPACT_STEP } from '../index/segment-builder.ts';
import type { OpenSegment, Snapshot } from '../index/snapshot.ts';
import { type ByDocument, byMeaning, byWords, findNames, type Named } from './candidates.ts';
import {
  explanationOf,
  finalScore,
  isUnrelated,
  leastNearness,
  type MergeWeights,
  rounded,
  unit,
  weightsFor,
} from './merge.ts';
import { type IndexQuery, readQuery } from './query.ts';

export interface RankTask extends RankRequest {
  now: Date;
  /** Of the query. None: meaning takes no part. */
  vector: Float32Array | undefined;
}

export interface Ranked {
  /** Best first; ties have a fixed order, so that pages never overlap. */
  hits: Hit[];
  total: number;
  facets?: FacetCounts;
}

/** Pages end here. */
const MOST_HITS = 500;
interface Found {
  open: OpenSegment;
  document: number;
  member: number;
  lexical: number;
  /** Undefined: its vector has not been made yet. */
  semantic: number | undefined;
  named: NameMatch | undefined;
  final: number;
}

export function rank(index: Snapshot, task: RankTask): Ranked {
  const { text, filters, mode } = task;
  const words = readQuery(text, index);
  const named = findNames(index, text, filters);
  const lexical = mode === 'semantic' ? [] : byWords(index, words, filters);
  const also = index.segments.map((_, place) => [...(lexical[place]?.keys() ?? []), ...(named[place]?.keys() ?? [])]);
  const vector = mode === 'keyword' ? undefined : task.vector;
  const semantic = vector ? byMeaning(index, vector, { filters, also }) : [];
  if (words.terms.length === 0 && isEmpty(named) && !isNearAny(semantic, words, index.textCount)) {
    return { hits: [], total: 0 };
  }
  const weights = weightsFor(isEmpty(semantic) ? 'keyword' : mode, words);
  const found = index.segments.flatMap((open, place) =>
    scored(open, { lexical: lexical[place], semantic: semantic[place], named: named[place] }),
  );
  const best = found.sort(byScore).slice(0, MOST_HITS);
  return {
    hits: best.slice(0, task.limit).map(hitFrom),
    total: best.length,
    ...(task.withFacets && { facets: countFacets(best) }),
  };

  function scored(open: OpenSegment, candidates: Candidates): Found[] {
    const choice = index.choose(open, filters);
    const scoredMembers: Found[] = [];
    const documents = new Set(
      [candidates.named, candidates.lexical, candidates.semantic].flatMap((each) => [...(each?.keys() ?? [])]),
    );
    for (const document of documents) {
      const newest = choice.members[document] as number;
      if (newest < 0 || open.dead[document] === 1) continue;
      const name = candidates.named?.get(document);
      const covered = unit((candidates.lexical?.get(document) ?? 0) / (words.best || 1));
      const cosine = candidates.semantic?.get(document);
      if (isUnrelated({ lexical: covered, semantic: cosine, named: name?.match })) continue;
      for (const member of shownMembers(open.segment, document, newest, name)) {
        const found = { open, document, member, lexical: covered, semantic: cosine, named: name?.match, final: 0 };
        found.final = finalOf(found);
        if (found.final > 0) scoredMembers.push(found);
      }
    }
    return scoredMembers;

    /** All versions, the one that the query names, or the newest. */
    function shownMembers(segment: Segment, document: number, newest: number, name: Named | undefined): number[] {
      if (task.versions === 'latest') {
        return [name?.member !== undefined && choice.meets(name.member) ? name.member : newest];
      }
      const [start, end] = [segment.memberStarts[document] as number, segment.memberStarts[document + 1] as number];
      return Array.from({ length: end - start }, (_, place) => start + place).filter(choice.meets);
    }
  }

  function finalOf({ open: { segment }, member, lexical: covered, semantic: cosine, named: match }: Found): number {
    const isDeprecated = ((segment.flags[member] as number) & (IS_DEPRECATED | IS_DISABLED)) !== 0;
    const quality = segment.qualities[member] as number;
    const recency = recencyOf(segment, member, task.now);
    return finalScore({ lexical: covered, semantic: cosine, named: match, quality, recency, isDeprecated }, weights);
  }

  function hitFrom(each: Found): Hit {
    const { open, document, member, lexical: covered, semantic: cosine, final } = each;
    const { segment } = open;
    const hit: Hit = {
      uid: segment.uids.at(member),
      lexical: covered,
      semantic: unit(cosine ?? 0),
      quality: rounded(unit(segment.qualities[member] as number)),
      recency: recencyOf(segment, member, task.now),
      final,
      versionCount: (segment.memberStarts[document + 1] as number) - (segment.memberStarts[document] as number),
    };
    return task.explain ? { ...hit, explanation: explain(index, each, { hit, words, weights }) } : hit;
  }
}

interface Candidates {
  lexical: ByDocument<number> | undefined;
  semantic: ByDocument<number> | undefined;
  named: ByDocument<Named> | undefined;
}

function isEmpty(found: readonly ReadonlyMap<unknown, unknown>[]): boolean {
  return found.every(({ size }) => size === 0);
}

/** A query without a letter or digit is near nothing. */
function isNearAny(cosines: readonly ByDocument<number>[], { wordCount }: IndexQuery, texts: number): boolean {
  const least = leastNearness(texts);
  return wordCount > 0 && cosines.some((each) => [...each.values()].some((cosine) => cosine >= least));
}

function recencyOf({ published }: Segment, member: number, now: Date): number {
  return recencyAt(published[member] as number, now);
}

function byScore(one: Found, other: Found): number {
  return other.final - one.final || (uidOf(one) < uidOf(other) ? -1 : 1);
}

function uidOf({ open, member }: Found): string {
  return open.segment.uids.at(member);
}

function countFacets(found: readonly Found[]): FacetCounts {
  const counter = createFacetCounter();
  for (const { open, member } of found) counter.count(open.segment, member);
  return counter.counts();
}

function explain(
  index: Snapshot,
  { open, document, named }: Found,
  { hit, words, weights }: { hit: Hit; words: IndexQuery; weights: MergeWeights },
): Record<string, unknown> {
  const terms = words.terms.map(({ term, word, weight, why }) => {
    const { impact, fields } = matchOf(open.segment, term, document);
    return { word, term, why, fields, weight: rounded(weight), score: rounded(weight * impact * index.rarity(term)) };
  });
  return explanationOf(hit, { terms, best: words.best, weights, named });
}

/** How much a term says about a document, and in which fields it is. */
function matchOf({ terms, postings, postingStarts }: Segment, term: string, document: number) {
  const place = terms.find(term);
  const [start, end] = place < 0 ? [0, 0] : [postingStarts[place] as number, postingStarts[place + 1] as number];
  const posting = readPostings(postings, start, end).find((each) => each.document === document);
  return {
    impact: (posting?.impact ?? 0) * IMPACT_STEP,
    fields: FIELDS.filter((_, field) => ((posting?.fields ?? 0) & (1 << field)) !== 0),
  };
}
