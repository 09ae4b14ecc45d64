// The interface of a search engine: ranks entities for a text by keywords, meaning or both, and lists entities by filters.
import type { EntityUid } from '../../catalog/uid.ts';
import type { SearchFilters, SearchMode, Sort } from '../contract.ts';
import type { FacetCounts } from '../facet-values.ts';
import type { ModelCheck } from '../model/check-model.ts';

export interface SearchEngine {
  /** Never throws because of a text; unavailable parts are named in `degraded`. */
  rank(request: RankRequest, signal?: AbortSignal): Promise<Ranking>;
  list(request: ListRequest): Promise<Listing>;
  /**
   * Moves whenever an answer may differ from the one before: with what is indexed of the catalog and with vectors that
   * arrive. Cheap; for ETags and caches, beside the catalog's revision.
   */
  version(): string;
  /** Resolves when everything that the catalog holds now is indexed and embedded, or when that cannot be done. */
  catchUp(signal: AbortSignal): Promise<void>;
  checkModel(): Promise<ModelCheck>;
  /** For metrics. */
  sizes(): IndexSizes;
  /** Ends background work; searches still work. */
  stopWork(): Promise<void>;
  close(): Promise<void>;
}

/** Most hits of a query: only these are counted, sorted and shown. */
export const MOST_HITS = 500;

export interface RankRequest {
  /** Not blank: a list is not ranked. */
  text: string;
  filters: SearchFilters;
  mode: SearchMode;
  /** `latest`: one hit for each type and name; `all`: one for each version that meets the filters. */
  versions: 'latest' | 'all';
  explain: boolean;
  sort: Sort;
  /** How many hits the caller needs. */
  limit: number;
  withFacets: boolean;
}

/** `latest`: of each type and name, the newest version that meets the filters; a stable one if there is one. */
export interface ListRequest extends Pick<RankRequest, 'filters' | 'versions' | 'sort' | 'limit' | 'withFacets'> {
  offset: number;
}

export interface FoundHits {
  /** Ties have a fixed order, so that pages never overlap; `limit` of them at most. */
  hits: readonly Hit[];
  /** How many there are in all; in a ranking, of the few hundred best. */
  total: number;
  /** The facets of all hits. */
  facets?: FacetCounts;
}

interface Listing extends FoundHits {
  /** Which part was not available, and what was done instead: one sentence for the caller. */
  degraded?: string;
  /** Whether the same request has the same answer until `version` moves: not so when something failed that may work again. */
  isLasting: boolean;
}

export interface Ranking extends Listing {
  /** The mode that was used; less than requested if something is degraded. */
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
  /** How many versions of its type and name the catalog holds. */
  versionCount: number;
  explanation?: Record<string, unknown>;
}

export interface IndexSizes {
  entities: number;
  /** Types and names: all versions of one are one document. */
  families: number;
  /** Distinct texts that are compared by meaning. */
  texts: number;
  /** Those that have a vector. */
  embedded: number;
}
