// Port: what the engine that searches in PostgreSQL needs from the database.
import type { EntityType, EntityUid } from '../../catalog/uid.ts';
import type { SearchFilters, Sort } from '../contract.ts';
import type { MissingText } from '../engine/embed-texts.ts';
import type { IndexSizes } from '../engine/engine.ts';
import type { FamilyName, IndexEntry, StoredVector } from '../engine/search-index.ts';

/** A `tsvector` has room for one of four labels with each word: what such a word says about a document, of 1 at most. */
export const LABEL_WEIGHTS = { D: 0.2, C: 0.45, B: 0.63, A: 0.8 };

/** The tables that searches read, kept in step with the catalog by one hub at a time. */
export interface SearchTables {
  /** Creates the tables and extensions that are missing; drops tables of another layout. */
  prepare(): Promise<void>;
  progress(): Promise<IndexProgress>;
  /** Types and names that changed after a revision, some revisions at a time; undefined when the changes are no longer known. */
  changedFamilies(after: number): Promise<{ revision: number; families: FamilyName[] } | undefined>;
  /** In order, those in the catalog and those in the tables, from the one after `after`. */
  familiesAfter(after: FamilyName | undefined, limit: number): Promise<FamilyName[]>;
  /** Every version of these families that is in the catalog. */
  members(families: readonly FamilyName[]): Promise<FamilyMember[]>;
  /** The digests of the manifests that families in the tables were described by. */
  described(families: readonly FamilyName[]): Promise<(FamilyName & { digest: string })[]>;
  /** Replaces families, and records how far the index is, in one transaction. */
  save(families: readonly IndexedFamily[], progress: IndexProgress): Promise<void>;
  sizes(): Promise<IndexSizes>;
}

/** The vectors that searches compare. */
export interface SearchVectors {
  /** Whether the extension is there. */
  readonly isAvailable: boolean;
  /** The model whose vectors are compared; null until there is one. */
  model(): Promise<string | null>;
  /** From now on the vectors of this model are compared. */
  choose(model: string): Promise<void>;
  /** Families that have no vector of the chosen model, without those whose text has one of these digests. */
  missing(limit: number, except: readonly string[]): Promise<FamilyText[]>;
  /** Gives families the vectors of their texts, where these are still their texts. */
  adopt(model: string, vectors: readonly (FamilyText & StoredVector)[]): Promise<void>;
  /** Builds the index of the vectors, which is faster once they are all there. */
  buildIndex(model: string, dimensions: number): Promise<void>;
}

interface FamilyText extends MissingText {
  family: number;
}

/** The searches themselves, on a read replica where there is one. */
export interface SearchReads {
  /** The revision of the catalog that the tables show; undefined until they are built. */
  indexedRevision(): Promise<number | undefined>;
  /** In how many documents each term stands. */
  frequencies(terms: readonly string[]): Promise<Map<string, number>>;
  /** Known terms that begin like this, most frequent first, with their frequencies. */
  startingWith(beginning: string, limit: number): Promise<Map<string, number>>;
  /** Known terms that share many trigrams with this one, with their frequencies. */
  similar(term: string, lengths: { least: number; most: number }): Promise<Map<string, number>>;
  /** By a name without separators, and by a uid or a slug in lower case. */
  named(name: { key: string; uid: string; slug: string }): Promise<NamedFamily[]>;
  /** Scores of the best families by words. */
  byWords(query: WordQuery, filter: EntityFilter, limit: number): Promise<Map<number, number>>;
  /** Cosines of the nearest families. */
  byMeaning(query: VectorQuery, filter: EntityFilter, limit: number): Promise<Map<number, number>>;
  scoresOf(families: readonly number[], terms: WordQuery['terms']): Promise<Map<number, number>>;
  /** Without those that have no vector yet. */
  cosinesOf(families: readonly number[], query: VectorQuery): Promise<Map<number, number>>;
  /** What each term adds to the score of each family, in the order of the terms. */
  explain(families: readonly number[], terms: WordQuery['terms']): Promise<Map<number, readonly number[]>>;
  /** Versions that are `preferred` are shown instead of the newest one. */
  members(
    families: readonly number[],
    choice: ListChoice & { sort: Sort; preferred: readonly EntityUid[] },
  ): Promise<FoundMember[]>;
  list(
    request: ListChoice & { sort: Sort; limit: number; offset: number },
  ): Promise<{ uid: EntityUid; versionCount: number }[]>;
  count(choice: ListChoice): Promise<number>;
  /** How many of those that a list would show have which value; values are written `facet:value`. */
  countFacets(choice: ListChoice): Promise<{ value: string; count: number }[]>;
}

export interface EntityFilter
  extends Pick<SearchFilters, 'type' | 'includeInactive' | 'includePending' | 'prerelease'> {
  /** As `facet:value`, in lower case; an entity must have one value of each list. */
  facets: readonly (readonly string[])[];
}

export interface ListChoice {
  filter: EntityFilter;
  versions: 'latest' | 'all';
}

export interface FamilyMember extends IndexEntry {
  manifestDigest: string;
}

export interface IndexProgress {
  /** The catalog's revision that the tables show; undefined until they are built. */
  revision: number | undefined;
  /** How far a build of the whole index is, and the revision at which it began. */
  build?: { began: number; after: FamilyName | undefined };
}

export interface IndexedFamily extends FamilyName {
  /** Newest first, stable versions before pre-releases; empty when the family is gone. */
  members: readonly IndexedMember[];
  /** Absent when its document is as it was. */
  document?: IndexedDocument;
}

interface IndexedMember extends FamilyMember {
  slugKey: string;
  sortName: string;
  /** As `facet:value`, in lower case. */
  facetValues: readonly string[];
}

export interface IndexedDocument {
  uid: EntityUid;
  manifestDigest: string;
  /** The digest of the text that is compared by meaning. */
  textDigest: string;
  /** A `tsvector`. */
  words: string;
  names: readonly { key: string; isWhole: boolean }[];
}

export interface NamedFamily {
  family: number;
  type: EntityType;
  key: string;
  isWhole: boolean;
  /** The version whose uid or slug was asked for. */
  uid: EntityUid | null;
}

export interface WordQuery {
  /** The documents to score, as a `tsquery`. */
  candidates: string;
  terms: readonly { query: string; factor: number }[];
}

export interface VectorQuery {
  model: string;
  vector: Float32Array;
}

/** A version that is shown of a family. */
export interface FoundMember extends Pick<IndexEntry, 'type' | 'uid' | 'status' | 'quality' | 'publishedAt'> {
  family: number;
  versionCount: number;
  /** As `facet:value`, in lower case. */
  facets: readonly string[];
}
