// Finds the documents that may match a query: by name, by keywords, and by meaning.
import { parseReference } from '../../catalog/uid.ts';
import type { SearchFilters } from '../contract.ts';
import { newestOf } from '../index/choice.ts';
import { findNamed, findSlug, type NameMatch } from '../index/names.ts';
import { addScores } from '../index/postings.ts';
import { typeOf } from '../index/segment.ts';
import { IMPACT_STEP } from '../index/segment-builder.ts';
import type { OpenSegment, Snapshot } from '../index/snapshot.ts';
import { versionedName } from '../words.ts';
import { nthLargest } from './nth-largest.ts';
import type { IndexQuery } from './query.ts';

/** Maximum candidates by words and by meaning; each gets both scores before they are merged. */
const MOST_BY_WORDS = 300;
const MOST_BY_MEANING = 300;
/** Twice as many as needed, because the order by sign bits is only approximate. */
const COMPARED_BY_COSINE = 2 * MOST_BY_MEANING;
/** Up to this many texts, all are compared by cosine. */
const EXACT_UP_TO = 2_000;

export interface Named {
  match: NameMatch;
  /** The version named in the query. */
  member?: number;
}

/** Values by document of one segment. */
export type ByDocument<Value> = Map<number, Value>;

interface NameSearch {
  filters: SearchFilters;
  /** Whether names that differ by one typo are found too. */
  withNear: boolean;
}

/** Finds uids, `type:slug`, names and slugs with any separators, optionally with a version. By segment. */
export function findNames({ segments }: Snapshot, text: string, search: NameSearch): ByDocument<Named>[] {
  const named = segments.map((open) => namedBy(open, text, search));
  const asked = parseReference(text.trim()) ? undefined : versionedName(text);
  if (!asked || named.some(({ size }) => size > 0)) return named;
  return segments.map((open) => versionsNamed(open, asked, search));
}

function versionsNamed(
  { segment, dead }: OpenSegment,
  { name, version }: { name: string; version: string },
  { filters, withNear }: NameSearch,
): ByDocument<Named> {
  const isAsked = (member: number) => parseReference(segment.uids.at(member))?.version?.replace(/^v/, '') === version;
  const named: ByDocument<Named> = new Map();
  for (const [document, match] of findNamed(segment, name, { withNear })) {
    if (dead[document] === 1) continue;
    const member = newestOf(segment, document, isAsked, filters);
    if (member >= 0) named.set(document, { match, member });
    // The catalog does not have this version. The number in `top 10` is not a version.
    else if (match === 'whole') named.set(document, { match });
  }
  return named;
}

function namedBy({ segment, dead }: OpenSegment, text: string, { filters, withNear }: NameSearch): ByDocument<Named> {
  const wanted = text.trim();
  const reference = parseReference(wanted);
  const slug = (reference?.slug ?? wanted).toLowerCase();
  const named: ByDocument<Named> = new Map();
  const found = findNamed(segment, reference?.slug ?? wanted, { withNear });
  if (reference) for (const document of findSlug(segment, reference.slug)) found.set(document, 'whole');
  for (const [document, match] of found) {
    const first = segment.memberStarts[document] as number;
    if (dead[document] === 1 || (reference && typeOf(segment.flags[first] as number) !== reference.type)) continue;
    // If the slug belongs to one of several versions, the query means that version.
    const isOwn = (member: number) => parseReference(segment.uids.at(member))?.slug.toLowerCase() === slug;
    const isExact = (member: number) => segment.uids.at(member) === wanted;
    const exact = newestOf(segment, document, isExact, filters);
    const newest = match === 'whole' ? newestOf(segment, document, isOwn, filters) : -1;
    const member = exact >= 0 ? exact : newest;
    named.set(document, member >= 0 ? { match: exact >= 0 ? 'whole' : match, member } : { match });
  }
  return named;
}

/** Scores of the best matching documents of all segments: about `MOST_BY_WORDS`, including ties. */
export function byWords(index: Snapshot, { terms }: IndexQuery, filters: SearchFilters): ByDocument<number>[] {
  const weighted = terms.map(({ term, weight }) => ({ term, factor: weight * index.rarity(term) * IMPACT_STEP }));
  const found = index.segments.map((open) => scoreDocuments(open, weighted, index.choose(open, filters).members));
  const allScores = found.map(({ scores }) => scores);
  const least = nthLargest(allScores, MOST_BY_WORDS);
  return found.map(({ documents, scores }) => {
    const best: ByDocument<number> = new Map();
    for (let position = 0; position < scores.length; position += 1) {
      const score = scores[position] as number;
      if (score >= least) best.set(documents[position] as number, score);
    }
    return best;
  });
}

/** The documents that contain one of the terms and have a chosen member, with their scores. */
function scoreDocuments(
  { segment, dead }: OpenSegment,
  terms: readonly { term: string; factor: number }[],
  chosen: Int32Array,
): { documents: Uint32Array; scores: Float32Array } {
  if (sums.length < segment.documentCount) {
    sums = new Float32Array(segment.documentCount);
    touched = new Uint32Array(segment.documentCount);
  }
  let count = 0;
  const found = terms.map(({ term, factor }) => ({ position: segment.terms.find(term), factor }));
  for (const { position, factor } of found) {
    if (position < 0) continue;
    const [start, end] = [segment.postingStarts[position] as number, segment.postingStarts[position + 1] as number];
    count = addScores({ bytes: segment.postings, start, end, factor }, sums, touched, count);
  }
  const documents = new Uint32Array(count);
  const scores = new Float32Array(count);
  let shown = 0;
  for (const document of touched.subarray(0, count)) {
    const score = sums[document] as number;
    sums[document] = 0;
    if (dead[document] === 1 || (chosen[document] as number) < 0) continue;
    documents[shown] = document;
    scores[shown] = score;
    shown += 1;
  }
  return { documents: documents.subarray(0, shown), scores: scores.subarray(0, shown) };
}

/** Reused, because an array for all documents per query would cost more than most queries. All sums are 0 between two uses. */
let sums = new Float32Array();
let touched = new Uint32Array();

/** Cosines of the nearest documents of all segments, and of those in `also`, which were found by words or name. */
export function byMeaning(
  index: Snapshot,
  query: Float32Array,
  { filters, also }: { filters: SearchFilters; also: readonly Iterable<number>[] },
): ByDocument<number>[] {
  const nearest = nearestTexts(index, query, filters);
  const allCosines = nearest.map(({ cosines }) => cosines);
  const least = Math.max(0, nthLargest(allCosines, MOST_BY_MEANING));
  return nearest.map(({ texts, cosines }, position) => {
    const { segment, vectors } = index.segments[position] as OpenSegment;
    const found: ByDocument<number> = new Map();
    for (const [at, text] of texts.entries()) {
      const cosine = cosines[at] as number;
      if (cosine < least) continue;
      const [start, end] = [segment.textDocumentStarts[text], segment.textDocumentStarts[text + 1]];
      for (const document of segment.textDocuments.subarray(start, end)) found.set(document, cosine);
    }
    if (vectors?.block.dimensions !== query.length) return found;
    const others = [...new Set(also[position])].filter(
      (document) => !found.has(document) && vectors.has(segment.texts[document] as number),
    );
    const otherTexts = others.map((document) => segment.texts[document] as number);
    for (const [at, cosine] of vectors.cosines(otherTexts, query).entries()) found.set(others[at] as number, cosine);
    return found;
  });
}

/** By segment. Compares signs first, at a tenth of the cost, then the cosines of the texts nearest by signs. */
function nearestTexts(index: Snapshot, query: Float32Array, filters: SearchFilters) {
  const compared = index.segments.map((open) =>
    open.vectors?.block.dimensions === query.length
      ? open.vectors.compareSigns(query, index.choose(open, filters).texts)
      : undefined,
  );
  const wanted = index.textCount <= EXACT_UP_TO ? EXACT_UP_TO : COMPARED_BY_COSINE;
  const histograms = compared.flatMap((each) => each?.histogram ?? []);
  const furthest = distanceOf(wanted, histograms);
  return compared.map((each, position) => {
    const texts = each ? placesUpTo(each.distances, furthest) : [];
    return { texts, cosines: index.segments[position]?.vectors?.cosines(texts, query) ?? new Float32Array() };
  });
}

/** The distance within which at least `wanted` texts lie. */
function distanceOf(wanted: number, histograms: readonly Uint32Array[]): number {
  const furthest = (histograms[0]?.length ?? 1) - 1;
  let total = 0;
  for (let distance = 0; distance < furthest; distance += 1) {
    for (const histogram of histograms) total += histogram[distance] as number;
    if (total >= wanted) return distance;
  }
  return furthest;
}

function placesUpTo(distances: Uint16Array, furthest: number): number[] {
  const positions: number[] = [];
  for (let position = 0; position < distances.length; position += 1) {
    if ((distances[position] as number) <= furthest) positions.push(position);
  }
  return positions;
}
