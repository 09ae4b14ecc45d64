// A search as callers word it → the query, with nothing left open.
import type { EntityType } from '../catalog/uid.ts';
import type { SearchFilters, SearchQuery } from './contract.ts';

/** Everything may be left out; without a text, the catalog is listed. */
export interface SearchWish extends Partial<Omit<SearchQuery, 'filters'>>, Partial<Omit<SearchFilters, 'type'>> {
  type?: EntityType | 'any';
}

/** The one place that knows what is meant when nothing is said. */
export function searchQuery(wish: SearchWish): SearchQuery {
  const { type, capabilities = [], frameworks = [], providers = [], transports = [] } = wish;
  const { includeInactive = false, includePending = true } = wish;
  const { text = '', mode, rerank, versions, limit, offset = 0 } = wish;
  const { withFitReason = false, withSnippets = false, withFacets = false, explain = false } = wish;
  return {
    text,
    filters: {
      type: type === 'any' ? undefined : type,
      capabilities,
      frameworks,
      providers,
      transports,
      includeInactive,
      includePending,
    },
    mode,
    rerank,
    versions,
    limit,
    offset,
    withFitReason,
    withSnippets,
    withFacets,
    explain,
  };
}
