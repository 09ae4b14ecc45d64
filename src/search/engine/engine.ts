// The interface of a search engine: ranks entities for a text by keywords, meaning or both, and lists entities by filter.
import type { EntityUid } from '../../catalog/uid.ts';
import type { SearchMode, SearchQuery } from '../contract.ts';
import type { FacetCounts } from '../facet-values.ts';
import type { ModelCheck } from '../model/check-model.ts';

export interface SearchEngine {
  /** Never throws because of a text; `degraded` names the parts that are unavailable. */
  rank(request: RankRequest, signal?: AbortSignal): Promise<Ranking>;
  list(request: ListRequest): Promise<Listing>;
  /**
   * Changes whenever results may differ: when more of the catalog is indexed, or vectors arrive. Cheap; used in ETags and
   * caches together with the catalog's revision.
   */
  version(): string;
  /** Resolves when the whole catalog is indexed and embedded, or when that is not possible. */
  catchUp(signal: AbortSignal): Promise<void>;
  checkModel(): Promise<ModelCheck>;
  sizes(): IndexSizes;
  /** Stops background work; searches still work. */
  stopWork(): Promise<void>;
  close(): Promise<void>;
}

/** Maximum hits of a query: only these are counted, sorted and shown. */
export const MOST_HITS = 500;

/** The text is not empty: an empty query is a list. `latest` gives one hit per type and name, `all` one per matching version. */
export type RankRequest = Pick<SearchQuery, 'text' | 'filters' | 'explain' | 'sort' | 'withFacets' | 'facetText'> &
  Required<Pick<SearchQuery, 'mode' | 'versions' | 'limit'>>;

/** `latest`: for each type and name, the newest matching version; a stable one if it exists. */
export interface ListRequest extends Omit<RankRequest, 'text' | 'mode' | 'explain'> {
  offset: number;
}

/** Facets count all hits, not only those returned. */
export interface FoundHits extends Partial<FacetCounts> {
  /** At most `limit`. Ties have a fixed order, so that pages never overlap. */
  hits: readonly Hit[];
  /** The total number of matches; in a ranking, at most `MOST_HITS`. */
  total: number;
}

interface Listing extends FoundHits {
  /** A sentence for the caller: which part was not available, and what was done instead. */
  degraded?: string;
  /** Whether the same request returns the same result until `version` changes; false after a failure that may be temporary. */
  isLasting: boolean;
}

export interface Ranking extends Listing {
  /** The mode that was used; may be weaker than the requested one if search is degraded. */
  mode: SearchMode;
}

/** All scores are within 0..1. */
export interface Hit {
  uid: EntityUid;
  lexical: number;
  semantic: number;
  quality: number;
  recency: number;
  final: number;
  /** How many versions of its type and name the catalog contains. */
  versionCount: number;
  explanation?: Record<string, unknown>;
}

export interface IndexSizes {
  entities: number;
  /** Distinct types and names: all versions of one are one document. */
  families: number;
  /** Distinct texts for semantic search. */
  texts: number;
  /** Texts that have a vector. */
  embedded: number;
}
