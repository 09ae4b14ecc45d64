// What is indexed: entities gathered by type and name, each with the words and the meaning of its newest version.
import { createHash } from 'node:crypto';
import { LIFECYCLE_STATUSES } from '../catalog/manifest.ts';
import { ENTITY_TYPES, type EntityUid } from '../catalog/uid.ts';
import type { SearchFilters } from './contract.ts';
import { documentFromManifest, nameAlone, type SearchDocument } from './document.ts';
import { createFacetSets } from './facet-sets.ts';
import { createLexicalIndex, type LexicalIndex } from './lexical-index.ts';
import { createNames, type Names } from './names.ts';
import type { IndexEntry } from './search-index.ts';
import { createTexts, type Texts } from './texts.ts';
import { createVocabulary, type Vocabulary } from './vocabulary.ts';
import { compact, STOP_TERMS } from './words.ts';

export interface Member extends Omit<IndexEntry, 'facets'> {
  facetSet: number;
  family: Family;
  /** How recent it was in which hour: kept by whoever ranks. */
  recency?: { hour: number; score: number };
}

/** All versions of one type and name: one document. */
interface Family {
  /** Of its document; undefined until it has one. */
  slot: number | undefined;
  /** Whose manifest the document was made from. */
  describedBy: EntityUid | undefined;
  key: string;
  /** Newest first, stable versions before pre-releases. */
  members: Member[];
  /** Which text it has, as a slot of `texts`. */
  text: number | undefined;
}

export interface Choice {
  /** Of each family the newest that meets the filters, by the family's slot; stable if there is a stable one. */
  members: readonly (Member | undefined)[];
  /** 1 for each text that one of them has. */
  texts: Uint8Array;
}

export interface Collection {
  /** Adds or replaces; answers whose manifests are needed for that. */
  put(entries: readonly IndexEntry[]): EntityUid[];
  /** Answers like `put`: what is left of a name is described anew. */
  remove(uids: readonly EntityUid[]): EntityUid[];
  /** Removes all others. */
  retain(uids: readonly EntityUid[]): void;
  /** Takes in what a manifest says; one that is not the newest any more is passed over. */
  describe(uid: EntityUid, manifest: string): void;
  /** Who meets the filters. */
  choose(filters: SearchFilters): Choice;
  meets(filters: SearchFilters): (member: Member) => boolean;
  member(uid: EntityUid): Member | undefined;
  family(slot: number): Family | undefined;
  readonly words: LexicalIndex;
  readonly vocabulary: Vocabulary;
  readonly names: Names;
  readonly texts: Texts;
  readonly size: { families: number; entities: number };
  /** Moves with every change. */
  readonly version: number;
}

/** `onTextGone` is told when no family has a text any more. */
export function createCollection(onTextGone: (text: number) => void = () => {}): Collection {
  const byUid = new Map<EntityUid, Member>();
  const families = new Map<string, Family>();
  const bySlot: (Family | undefined)[] = [];
  const facetSets = createFacetSets();
  const vocabulary = createVocabulary();
  const words = createLexicalIndex((term) => {
    // Nobody who types `four` means `for`, which half of the catalog holds.
    if (!STOP_TERMS.has(term)) vocabulary.add(term);
  });
  const names = createNames();
  const texts = createTexts(onTextGone);
  const choices = new Map<string, Choice>();
  /** One text for each version key: most things begin at 1.0.0. */
  const versionKeys = new Map<string, string>();
  let version = 0;

  function changed(): void {
    version += 1;
    choices.clear();
  }

  function familyOf({ type, name }: IndexEntry): Family {
    const key = compact(`${type} ${name}`);
    const known = families.get(key);
    if (known) return known;
    const family: Family = { slot: undefined, describedBy: undefined, key, members: [], text: undefined };
    families.set(key, family);
    return family;
  }

  function detach(member: Member): void {
    const { family } = member;
    family.members.splice(family.members.indexOf(member), 1);
    facetSets.release(member.facetSet);
    byUid.delete(member.uid);
  }

  /** Takes the text of a family out of all indexes. */
  function silence(family: Family): void {
    const { slot, text } = family;
    if (slot === undefined) return;
    words.remove(slot);
    names.removeAll(slot);
    if (text !== undefined) texts.release(text, slot);
    bySlot[slot] = undefined;
    Object.assign(family, { slot: undefined, describedBy: undefined, text: undefined });
  }

  function dropIfEmpty(family: Family): void {
    if (family.members.length > 0) return;
    silence(family);
    families.delete(family.key);
  }

  function put(entries: readonly IndexEntry[]): EntityUid[] {
    const touched = new Set<Family>();
    for (const entry of entries) {
      const known = byUid.get(entry.uid);
      if (known) {
        detach(known);
        touched.add(known.family);
      }
      const family = familyOf(entry);
      touched.add(family);
      const versionKey = versionKeys.get(entry.versionKey) ?? entry.versionKey;
      versionKeys.set(versionKey, versionKey);
      const member = memberOf({ ...entry, versionKey }, family, facetSets.use(entry.facets));
      const place = family.members.findIndex((other) => isNewer(member, other));
      // A new list: one that grows takes room for many more, and most names have one version.
      family.members = family.members.toSpliced(place < 0 ? family.members.length : place, 0, member);
      byUid.set(member.uid, member);
      if (family.slot !== undefined) names.add(family.slot, member.slug);
    }
    for (const family of touched) dropIfEmpty(family);
    if (entries.length > 0) changed();
    // A family whose newest version is as it was needs no new document.
    const arrived = new Set(entries.map(({ uid }) => uid));
    return firstOf(touched).filter((uid) => arrived.has(uid) || byUid.get(uid)?.family.describedBy !== uid);
  }

  function remove(uids: readonly EntityUid[]): EntityUid[] {
    const gone = uids.flatMap((uid) => byUid.get(uid) ?? []);
    for (const member of gone) {
      detach(member);
      dropIfEmpty(member.family);
    }
    if (gone.length > 0) changed();
    return firstOf(new Set(gone.map(({ family }) => family)));
  }

  function describe(uid: EntityUid, manifest: string): void {
    const member = byUid.get(uid);
    if (!member || member.family.members[0] !== member) return;
    const { family } = member;
    const document = readDocument(member, manifest);
    silence(family);
    const slot = words.add(document.fields);
    const text = texts.use(digestOf(document.meaning), document.meaning, slot);
    Object.assign(family, { slot, text, describedBy: uid });
    bySlot[slot] = family;
    names.describe(slot, { name: member.name, ownName: document.fields.name, title: document.fields.title });
    for (const each of family.members) names.add(slot, each.slug);
    changed();
  }

  function meets(filters: SearchFilters): (member: Member) => boolean {
    const sets = facetSets.meeting(filters);
    return ({ type, status, isRegistered, facetSet }) =>
      (filters.type === undefined || type === filters.type) &&
      (filters.includeInactive || status !== 'disabled') &&
      (filters.includePending || type !== 'mcp_server' || isRegistered) &&
      (sets === undefined || sets[facetSet] === 1);
  }

  return {
    put,
    describe,
    remove,
    retain(uids) {
      const kept = new Set(uids);
      remove([...byUid.keys()].filter((uid) => !kept.has(uid)));
    },
    meets,
    choose(filters) {
      const key = JSON.stringify(filters);
      const known = choices.get(key);
      if (known) return known;
      const isMet = meets(filters);
      const members = bySlot.map((family) => family && newestOf(family.members, isMet, filters));
      const chosen = { members, texts: new Uint8Array(texts.capacity) };
      for (const member of members) if (member?.family.text !== undefined) chosen.texts[member.family.text] = 1;
      // Most searches have one of a few sets of filters.
      if (choices.size >= MOST_CHOICES) choices.clear();
      choices.set(key, chosen);
      return chosen;
    },
    member: (uid) => byUid.get(uid),
    family: (slot) => bySlot[slot],
    words,
    vocabulary,
    names,
    texts,
    get size() {
      return { families: families.size, entities: byUid.size };
    },
    get version() {
      return version;
    },
  };
}

const MOST_CHOICES = 32;

/** A hundred thousand of these are kept: what they share, and what is part of the uid, is there once. */
function memberOf({ facets, ...entry }: IndexEntry, family: Family, facetSet: number): Member {
  const [first] = family.members;
  return {
    ...entry,
    type: ENTITY_TYPES.find((type) => type === entry.type) ?? entry.type,
    status: LIFECYCLE_STATUSES.find((status) => status === entry.status) ?? entry.status,
    name: first?.name ?? entry.name,
    slug: entry.uid.slice(entry.type.length + 1, entry.uid.length - entry.version.length - 1),
    version: entry.uid.slice(entry.uid.length - entry.version.length),
    facetSet,
    family,
  };
}

/** The first that meets the filters is the newest stable one; with pre-releases, the newest of all. */
export function newestOf(
  members: readonly Member[],
  isMet: (member: Member) => boolean,
  { prerelease }: SearchFilters,
): Member | undefined {
  if (!prerelease) return members.find(isMet);
  return members.filter(isMet).toSorted((one, other) => (isNewerVersion(one, other) ? -1 : 1))[0];
}

function firstOf(families: ReadonlySet<Family>): EntityUid[] {
  return [...families].flatMap(({ members }) => members[0]?.uid ?? []);
}

/** What cannot be read any more is still found by its name. */
function readDocument(member: Member, manifest: string): SearchDocument {
  try {
    return documentFromManifest(JSON.parse(manifest));
  } catch {
    return nameAlone(member.name);
  }
}

/** Stable versions come before pre-releases. */
function isNewer(one: Member, other: Member): boolean {
  return one.isPrerelease === other.isPrerelease ? isNewerVersion(one, other) : other.isPrerelease;
}

function isNewerVersion(one: Member, other: Member): boolean {
  return one.versionKey === other.versionKey ? one.uid > other.uid : one.versionKey > other.versionKey;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
