// Finds the families that may match a query, with their keyword and semantic scores.
import { parseReference } from '../../catalog/uid.ts';
import type { RankRequest } from '../engine/engine.ts';
import { clamp01, isUnrelated, leastNearness } from '../ranking/merge.ts';
import { nameKey, versionedName } from '../words.ts';
import { type Named, namedFamilies } from './merge-hits.ts';
import { candidateQuery, type LexicalQuery, readQuery, scoredTerms } from './query.ts';
import type { MemberChoice, SearchReads, VectorQuery } from './store.ts';

export interface Query extends Pick<RankRequest, 'text' | 'mode'> {
  choice: Omit<MemberChoice, 'preferred'>;
  /** Resolves to undefined when semantic search is not used. */
  vector: Promise<VectorQuery | undefined>;
  sizes: { families: number; texts: number };
}

export type Found = Awaited<ReturnType<typeof findCandidates>>;

const MOST_BY_WORDS = 200;
const MOST_BY_MEANING = 150;

/** Every candidate gets both scores, regardless of which one found it. `terms` are those that are scored. */
export async function findCandidates(reads: SearchReads, query: Query) {
  const reading = readQuery(query.text, reads, query.sizes.families);
  const [words, { named, version }, { terms, byWords }, { vector, byMeaning }] = await Promise.all([
    reading,
    findNamed(reads, query.text, reading),
    findByWords(reads, query, reading),
    findByMeaning(reads, query),
  ]);
  const families = [...new Set([...named.keys(), ...byWords, ...byMeaning])];
  const uids = [...named.values()].flatMap(({ uid }) => uid ?? []);
  const preferred = { uids, version, families: [...named.keys()] };
  const members = await reads.members(families, { terms, vector }, { ...query.choice, preferred });
  const candidates = members.map((member) => ({
    ...member,
    lexical: clamp01(member.score / (words.best || 1)),
    semantic: member.cosine ?? undefined,
    named: matchOf(member, named, version),
  }));
  const related = candidates.filter((each) => !isUnrelated(each));
  const isRelatedByWords =
    (query.mode === 'semantic' && words.terms.length > 0) ||
    related.some((each) => each.lexical > 0 || each.named !== undefined);
  const isNearAny = candidates.some(({ semantic = 0 }) => semantic >= leastNearness(query.sizes.texts));
  const isFound = isRelatedByWords || (words.wordCount > 0 && isNearAny);
  return { words, terms, named, candidates: isFound ? related : [] };
}

async function findByWords(reads: SearchReads, { mode, choice }: Query, reading: Promise<LexicalQuery>) {
  const words = await reading;
  const terms = mode === 'semantic' ? [] : scoredTerms(words.terms);
  const candidates = candidateQuery(words.terms);
  if (candidates === undefined || terms.length === 0) return { terms, byWords: [] };
  return { terms, byWords: await reads.byWords({ candidates, terms }, choice.filter, MOST_BY_WORDS) };
}

async function findByMeaning(reads: SearchReads, query: Query) {
  const vector = await query.vector;
  return { vector, byMeaning: vector ? await reads.byMeaning(vector, query.choice.filter, MOST_BY_MEANING) : [] };
}

/** If no name equals the text, it may end in a version. */
async function findNamed(reads: SearchReads, text: string, reading: Promise<LexicalQuery>) {
  const [named, { hasRare }] = await Promise.all([findByName(reads, text), reading]);
  const meant = withoutUnlikely(named, hasRare);
  const asked = parseReference(text.trim()) ? undefined : versionedName(text);
  if (meant.size > 0 || !asked) return { named: meant };
  return { named: withoutUnlikely(await findByName(reads, asked.name), hasRare), version: asked.version };
}

/** A query of common words is not a misspelled name. */
function withoutUnlikely(named: ReadonlyMap<number, Named>, hasRare: boolean): Map<number, Named> {
  return new Map([...named].filter(([, { match }]) => match !== 'near' || hasRare));
}

/** The number in `top 10` is not a version: without it, only a whole name counts. */
function matchOf(
  { family, uid }: { family: number; uid: string },
  named: ReadonlyMap<number, Named>,
  version?: string,
) {
  const match = named.get(family)?.match;
  const isShown =
    version === undefined || match === 'whole' || parseReference(uid)?.version?.replace(/^v/, '') === version;
  return isShown ? match : undefined;
}

async function findByName(reads: SearchReads, text: string): Promise<Map<number, Named>> {
  const asked = text.trim();
  const reference = parseReference(asked);
  const name = reference?.slug ?? asked;
  const key = nameKey(name);
  if (key === '') return new Map();
  return namedFamilies(await reads.named({ key, uid: asked, slug: name.toLowerCase() }), key, reference);
}
