// Finds the families that may match a query, with their keyword and semantic scores.
import { ENTITY_TYPES, parseReference } from '../../catalog/uid.ts';
import type { RankRequest } from '../engine/engine.ts';
import { clamp01, isUnrelated, leastNearness } from '../ranking/merge.ts';
import { nameKey, versionedName } from '../words.ts';
import { type FoundFamily, type Named, namedFamilies } from './merge-hits.ts';
import { candidateQuery, type LexicalQuery, readQuery, scoredTerms } from './query.ts';
import type { EntityFilter, SearchReads, VectorQuery } from './store.ts';

export interface Query extends Pick<RankRequest, 'text' | 'mode'> {
  filter: EntityFilter;
  /** Resolves to undefined when semantic search is not used. */
  vector: Promise<VectorQuery | undefined>;
  sizes: { families: number; texts: number };
}

export interface Found {
  words: LexicalQuery;
  /** The terms that are scored. */
  terms: ReturnType<typeof scoredTerms>;
  named: Map<number, Named>;
  candidates: FoundFamily[];
}

const MOST_BY_WORDS = 300;
const MOST_BY_MEANING = 200;

/** Every candidate gets both scores, regardless of which one found it. */
export async function findCandidates(reads: SearchReads, query: Query): Promise<Found> {
  const [named, { words, terms, scores }, { vector, cosines }] = await Promise.all([
    findNamed(reads, query.text),
    findByWords(reads, query),
    findByMeaning(reads, query),
  ]);
  const families = [...new Set([...named.keys(), ...scores.keys(), ...cosines.keys()])];
  const without = (known: ReadonlyMap<number, number>) => families.filter((family) => !known.has(family));
  const [otherScores, otherCosines] = await Promise.all([
    reads.scoresOf(without(scores), terms),
    vector ? reads.cosinesOf(without(cosines), vector) : new Map<number, number>(),
  ]);
  const candidates = families.map((family) => ({
    family,
    lexical: clamp01((scores.get(family) ?? otherScores.get(family) ?? 0) / (words.best || 1)),
    semantic: cosines.get(family) ?? otherCosines.get(family),
    named: named.get(family)?.match,
  }));
  const isNearAny = candidates.some(({ semantic = 0 }) => semantic >= leastNearness(query.sizes.texts));
  const isFound = words.terms.length > 0 || named.size > 0 || (words.wordCount > 0 && isNearAny);
  return { words, terms, named, candidates: isFound ? candidates.filter((each) => !isUnrelated(each)) : [] };
}

async function findByWords(reads: SearchReads, { text, mode, filter, sizes }: Query) {
  const words = await readQuery(text, reads, sizes.families);
  const terms = mode === 'semantic' ? [] : scoredTerms(words.terms);
  const candidates = candidateQuery(words.terms);
  if (candidates === undefined || terms.length === 0) return { words, terms, scores: new Map<number, number>() };
  return { words, terms, scores: await reads.byWords({ candidates, terms }, filter, MOST_BY_WORDS) };
}

async function findByMeaning(reads: SearchReads, query: Query) {
  const vector = await query.vector;
  const cosines = vector ? await reads.byMeaning(vector, query.filter, MOST_BY_MEANING) : new Map<number, number>();
  return { vector, cosines };
}

/** A version is looked up by its uid, which works when the slug equals the name. */
async function findNamed(reads: SearchReads, text: string): Promise<Map<number, Named>> {
  const named = await findByName(reads, text);
  const asked = versionedName(text);
  if (named.size > 0 || !asked || (await findByName(reads, asked.name)).size === 0) return named;
  const uids = ENTITY_TYPES.map((type) => `${type}:${asked.name}@${asked.version}`);
  const found = await Promise.all(uids.map((uid) => findByName(reads, uid)));
  return new Map(found.flatMap((each) => [...each]).filter(([, { uid = '' }]) => uids.includes(uid)));
}

async function findByName(reads: SearchReads, text: string): Promise<Map<number, Named>> {
  const asked = text.trim();
  const reference = parseReference(asked);
  const name = reference?.slug ?? asked;
  const key = nameKey(name);
  if (key === '') return new Map();
  return namedFamilies(await reads.named({ key, uid: asked, slug: name.toLowerCase() }), key, reference);
}
