// Who comes into question for a query: by name, by words, and by meaning.
import { parseReference } from '../catalog/uid.ts';
import { type Choice, type Collection, newestOf } from './collection.ts';
import type { SearchFilters } from './contract.ts';
import type { RankRequest } from './engine.ts';
import type { NameMatch } from './names.ts';
import { type LexicalQuery, readQuery } from './query.ts';
import type { VectorIndex } from './vector-index.ts';

/** The query's vector, or what a database found with it. */
export type Meaning = { vector: Float32Array } | { cosines: readonly { digest: string; cosine: number }[] };

/** Candidates by words and by meaning; each gets both scores before they are merged. */
const MOST_BY_WORDS = 300;
const MOST_BY_MEANING = 300;

export interface Named {
  match: NameMatch;
  /** The version that the query names. */
  uid?: string;
}

/** Uids, `type:slug`, names and slugs with any separators. */
export function namedBy(text: string, filters: SearchFilters, collection: Collection): Map<number, Named> {
  const wanted = text.trim();
  const named = new Map<number, Named>();
  const reference = parseReference(wanted);
  for (const [slot, match] of collection.names.find(reference?.slug ?? wanted)) {
    const members = collection.family(slot)?.members ?? [];
    if (reference && members[0]?.type !== reference.type) continue;
    // The slug may belong to one of many versions, which is then the one that is meant.
    const slug = (reference?.slug ?? wanted).toLowerCase();
    const own = members.filter((member) => member.slug.toLowerCase() === slug);
    const newest = match === 'whole' ? newestOf(own, () => true, filters) : undefined;
    const exact = own.find(({ version }) => version === reference?.version) ?? newest;
    named.set(slot, exact ? { match, uid: exact.uid } : { match });
  }
  const exact = collection.member(wanted);
  if (exact?.family.slot !== undefined) named.set(exact.family.slot, { match: 'whole', uid: exact.uid });
  return named;
}

export function byWords(collection: Collection, { terms }: LexicalQuery, { members }: Choice): Map<number, number> {
  return collection.words.best(terms, MOST_BY_WORDS, (slot) => members[slot] !== undefined);
}

/** Cosines by the slots of families. Those in `also`, which words or a name have found, get theirs too. */
export function byMeaning(
  { texts, family }: Collection,
  vectors: VectorIndex | undefined,
  { meaning, choice, also }: { meaning: Meaning | undefined; choice: Choice; also: readonly number[] },
): Map<number, number> {
  const cosines = new Map<number, number>();
  const spread = (text: number, cosine: number) => {
    for (const slot of texts.families(text)) if (choice.members[slot] !== undefined) cosines.set(slot, cosine);
  };
  if (meaning && 'cosines' in meaning) {
    for (const { digest, cosine } of meaning.cosines) spread(texts.slot(digest) ?? -1, cosine);
    return cosines;
  }
  if (!meaning || vectors?.dimensions !== meaning.vector.length) return cosines;
  for (const { slot, cosine } of vectors.nearest(meaning.vector, MOST_BY_MEANING, choice.texts)) spread(slot, cosine);
  for (const slot of also) {
    const text = family(slot)?.text;
    if (text === undefined || cosines.has(slot) || !vectors.has(text)) continue;
    cosines.set(slot, vectors.cosine(text, meaning.vector));
  }
  return cosines;
}

/** Which texts a database should compare: all, or those of a narrow filter, and those that words have found. */
export function candidateTexts(
  collection: Collection,
  request: Pick<RankRequest, 'text' | 'filters' | 'mode'>,
): { among: string[] | undefined; alsoOf: string[] } {
  const { texts } = collection;
  const choice = collection.choose(request.filters);
  const digestsOf = (slots: Iterable<number>) => [
    ...new Set([...slots].flatMap((slot) => texts.digest(collection.family(slot)?.text ?? -1) ?? [])),
  ];
  const words = readQuery(request.text, collection.words, collection.vocabulary);
  const found = request.mode === 'semantic' ? [] : [...byWords(collection, words, choice).keys()];
  const shown = digestsOf(choice.members.flatMap((member) => member?.family.slot ?? []));
  return {
    among: shown.length < NARROW * texts.size ? shown : undefined,
    alsoOf: digestsOf([...found, ...namedBy(request.text, request.filters, collection).keys()]),
  };
}

/** A filter that leaves less than this share of all texts is narrow. */
const NARROW = 0.5;
