// Port: what the PostgreSQL search engine needs from the database.
import type { EntityType, EntityUid } from '../../catalog/uid.ts';
import type { SearchFilters, Sort } from '../contract.ts';
import type { MissingText } from '../engine/embed-texts.ts';
import type { IndexSizes } from '../engine/engine.ts';
import type { FamilyName, IndexEntry, StoredVector } from '../engine/search-index.ts';

/** A `tsvector` stores one of four labels with each word: the word's weight in the document, at most 1. */
export const LABEL_WEIGHTS = { D: 0.2, C: 0.45, B: 0.63, A: 0.8 };

/** The tables that searches read; one hub at a time keeps them in sync with the catalog. */
export interface SearchTables {
  /** Creates missing tables and extensions; drops tables with another layout. */
  prepare(): Promise<void>;
  progress(): Promise<IndexProgress>;
  /** Types and names that changed after a revision, a few revisions at a time; undefined if the changes are no longer stored. */
  changedFamilies(after: number): Promise<{ revision: number; families: FamilyName[] } | undefined>;
  /** The families in the catalog or in the tables, in order, starting after `after`. */
  familiesAfter(after: FamilyName | undefined, limit: number): Promise<FamilyName[]>;
  /** Every version of these families in the catalog. */
  members(families: readonly FamilyName[]): Promise<FamilyMember[]>;
  /** The digest of the manifest that each family in the tables was last described by. */
  described(families: readonly FamilyName[]): Promise<(FamilyName & { digest: string })[]>;
  /** Replaces families and records the progress in one transaction. */
  save(families: readonly IndexedFamily[], progress: IndexProgress): Promise<void>;
  sizes(): Promise<IndexSizes>;
}

/** The vectors for semantic search. */
export interface SearchVectors {
  /** Whether the extension is installed. */
  readonly isAvailable: boolean;
  /** The model whose vectors are compared; null until one is chosen. */
  model(): Promise<string | null>;
  /** Switches to the vectors of this model. */
  choose(model: string): Promise<void>;
  /** Families without a vector of the chosen model, except texts with these digests. */
  missing(limit: number, except: readonly string[]): Promise<FamilyText[]>;
  /** Stores vectors for families whose text has not changed meanwhile. */
  adopt(model: string, vectors: readonly (FamilyText & StoredVector)[]): Promise<void>;
  /** Builds the vector index; faster once all vectors are stored. */
  buildIndex(model: string, dimensions: number): Promise<void>;
}

interface FamilyText extends MissingText {
  family: number;
}

/** The search queries, run on a read replica if there is one. */
export interface SearchReads {
  /** The catalog revision of the tables; undefined until they are built. */
  indexedRevision(): Promise<number | undefined>;
  /** The number of documents that contain each term. */
  frequencies(terms: readonly string[]): Promise<Map<string, number>>;
  /** Known terms with this prefix and their frequencies, most frequent first. */
  startingWith(beginning: string, limit: number): Promise<Map<string, number>>;
  /** Known terms that share many trigrams with this one, with their frequencies. */
  similar(term: string, lengths: { least: number; most: number }): Promise<Map<string, number>>;
  /** Finds families by a name without separators, and by a uid or slug in lower case. */
  named(name: { key: string; uid: string; slug: string }): Promise<NamedFamily[]>;
  /** The best families by words. */
  byWords(query: WordQuery, filter: EntityFilter, limit: number): Promise<number[]>;
  /** The nearest families. */
  byMeaning(query: VectorQuery, filter: EntityFilter, limit: number): Promise<number[]>;
  /** The contribution of each term to the score of each family, in the order of the terms. */
  explain(families: readonly number[], terms: WordQuery['terms']): Promise<Map<number, readonly number[]>>;
  /**
   * The versions to show of these families, with both scores. `preferred` uids, and
   * a version of its families, are returned instead of the newest ones.
   */
  members(families: readonly number[], query: ScoreQuery, choice: MemberChoice): Promise<ScoredMember[]>;
  list(
    request: ListChoice & { sort: Sort; limit: number; offset: number },
  ): Promise<{ uid: EntityUid; versionCount: number }[]>;
  count(choice: ListChoice): Promise<number>;
  /** Counts the values of all entities in a list; values have the form `facet:value`. */
  countFacets(choice: ListChoice): Promise<Map<string, number>>;
}

export interface EntityFilter
  extends Pick<SearchFilters, 'type' | 'includeInactive' | 'includePending' | 'prerelease'> {
  /** `facet:value` in lower case; an entity must have one value of each list. */
  facets: readonly (readonly string[])[];
}

export interface ListChoice {
  filter: EntityFilter;
  versions: 'latest' | 'all';
}

/** In `relevance`, members have no order. */
export interface MemberChoice extends ListChoice {
  sort: Sort;
  withFacets: boolean;
  preferred: { uids: readonly EntityUid[]; version: string | undefined; families: readonly number[] };
}

export interface FamilyMember extends IndexEntry {
  manifestDigest: string;
}

export interface IndexProgress {
  /** The catalog revision of the tables; undefined until they are built. */
  revision: number | undefined;
  /** The progress of a full build, and the revision at which it began. */
  build?: { began: number; after: FamilyName | undefined };
}

export interface IndexedFamily extends FamilyName {
  /** Newest first, stable versions before pre-releases; empty when the family was removed. */
  members: readonly IndexedMember[];
  /** Absent when the document did not change. */
  document?: IndexedDocument;
}

interface IndexedMember extends FamilyMember {
  slugKey: string;
  sortName: string;
  /** `facet:value` in lower case. */
  facetValues: readonly string[];
}

export interface IndexedDocument {
  uid: EntityUid;
  manifestDigest: string;
  /** The digest of the embedded text. */
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
  /** The version whose uid or slug was requested. */
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

interface ScoreQuery extends Pick<WordQuery, 'terms'> {
  vector: VectorQuery | undefined;
}

/** A version shown for a family. */
export interface ScoredMember extends Pick<IndexEntry, 'type' | 'uid' | 'status' | 'quality' | 'publishedAt'> {
  family: number;
  versionCount: number;
  /** `facet:value` in lower case, if requested. */
  facets?: readonly string[];
  /** By words. */
  score: number;
  /** Null without a vector. */
  cosine: number | null;
}
