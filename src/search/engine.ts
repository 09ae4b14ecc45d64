// The engine's face: a text becomes a ranking of entities, by words, by meaning or by both.
import type { EntityUid } from '../catalog/uid.ts';
import type { ModelCheck } from './check-model.ts';
import type { SearchFilters, SearchMode } from './contract.ts';

export interface SearchEngine {
  /** Never throws for a text, however odd; a part that is not available is named in `degraded`. */
  rank(request: RankRequest, signal?: AbortSignal): Promise<Ranking>;
  /**
   * Moves whenever an answer may differ from the one before: with what is indexed of the catalog and with vectors that
   * arrive. Cheap; for ETags and caches, beside the catalog's revision.
   */
  version(): string;
  /** Resolves when everything that the catalog holds now is indexed and embedded, or when that cannot be done. */
  catchUp(signal: AbortSignal): Promise<void>;
  /** Calls back whenever the index begins to catch up by itself: the catalog may have changed, and nothing that comes first is under way. */
  onCatchingUp(listener: () => void): void;
  /** Something that needs memory begins: lets go of what it can do without for now. Searches bring it back. Never fails. */
  makeRoom(): Promise<void>;
  checkModel(): Promise<ModelCheck>;
  /** For figures. */
  sizes(): IndexSizes;
  /** Ends what goes on by itself; searches still work. */
  stopWork(): Promise<void>;
  close(): Promise<void>;
}

export interface RankRequest {
  /** Not blank: a list is not ranked. */
  text: string;
  filters: SearchFilters;
  mode: SearchMode;
  /** `latest`: one hit for each type and name; `all`: one for each version that meets the filters. */
  versions: 'latest' | 'all';
  explain: boolean;
}

export interface Ranking {
  /** Best first, ties in a fixed order; some hundreds at most, from which pages are cut. */
  hits: readonly Hit[];
  /** How many of them there are. */
  total: number;
  /** What took part, which is less than was asked for when something is degraded. */
  mode: SearchMode;
  /** Which part was not available, and what was done instead: one sentence for the caller. */
  degraded?: string;
  /** Whether the same request has the same answer until `version` moves: not so when something failed that may work again. */
  isLasting: boolean;
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
