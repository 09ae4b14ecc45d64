// Merges PostgreSQL's results into hits with one score each, best first.
import { recencyScore } from '../../catalog/quality.ts';
import type { EntityReference, EntityUid } from '../../catalog/uid.ts';
import { editDistance } from '../../lib/typing-errors.ts';
import type { Hit } from '../engine/engine.ts';
import { countsFrom, type FacetCounts } from '../facet-values.ts';
import type { NameMatch } from '../index/names.ts';
import { type Candidate, clamp01, explanationOf, finalScore, type MergeWeights, rounded } from '../ranking/merge.ts';
import type { LexicalQuery } from './query.ts';
import type { NamedFamily, ScoredMember } from './store.ts';

export interface Named {
  match: NameMatch;
  /** The version named in the query. */
  uid?: EntityUid;
}

/** A version with the scores of its family. */
export type FoundMember = ScoredMember & Pick<Candidate, 'lexical' | 'semantic' | 'named'>;

const MATCHES: readonly NameMatch[] = ['near', 'part', 'whole'];

/** The best match of each family. */
export function namedFamilies(found: readonly NamedFamily[], key: string, reference?: EntityReference) {
  const named = new Map<number, Named>();
  for (const { family, type, key: own, isWhole, uid } of found) {
    if (reference && type !== reference.type) continue;
    if (own !== key && editDistance(own, key, 1) > 1) continue;
    const match = own !== key ? 'near' : isWhole ? 'whole' : 'part';
    const known = named.get(family);
    const isBetter = !known || MATCHES.indexOf(match) > MATCHES.indexOf(known.match);
    named.set(family, { match: isBetter ? match : known.match, uid: known?.uid ?? uid ?? undefined });
  }
  return named;
}

/** Best first, ties in a fixed order. */
export function hitsFrom(members: readonly FoundMember[], weights: MergeWeights, now: Date): Hit[] {
  const hits = members.map(({ uid, versionCount, lexical, semantic, named, ...member }): Hit => {
    const quality = clamp01(member.quality);
    const recency = recencyScore(member.publishedAt, now);
    const isDeprecated = member.status !== 'active';
    const final = finalScore({ lexical, semantic, named, quality, recency, isDeprecated }, weights);
    return { uid, lexical, semantic: clamp01(semantic ?? 0), quality, recency, final, versionCount };
  });
  return hits.filter(({ final }) => final > 0).sort((a, b) => b.final - a.final || (a.uid < b.uid ? -1 : 1));
}

export function facetsOf(members: readonly FoundMember[], text?: string): FacetCounts {
  const counted = new Map<string, number>();
  for (const { type, facets = [] } of members) {
    for (const value of [`type:${type}`, ...facets]) counted.set(value, (counted.get(value) ?? 0) + 1);
  }
  return countsFrom(counted, text);
}

interface Explaining {
  words: LexicalQuery;
  named: ReadonlyMap<number, Named>;
  weights: MergeWeights;
  /** For each family, the contribution of each term to its score. */
  scores: ReadonlyMap<number, readonly number[]>;
}

export function explained(
  hits: readonly Hit[],
  members: readonly FoundMember[],
  { words, named, weights, scores }: Explaining,
): Hit[] {
  const families = new Map(members.map(({ uid, family }) => [uid, family]));
  return hits.map((hit) => {
    const family = families.get(hit.uid) ?? -1;
    const terms = words.terms.map(({ word, forms, why, weight }, position) => {
      const score = rounded(scores.get(family)?.[position] ?? 0);
      return { word, term: forms.join(' | '), why, weight: rounded(weight), score };
    });
    const match = named.get(family)?.match;
    return { ...hit, explanation: explanationOf(hit, { terms, best: words.best, weights, named: match }) };
  });
}
