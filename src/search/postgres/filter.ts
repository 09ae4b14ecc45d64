// The filters of a search as the tables have them.
import type { SearchFilters } from '../contract.ts';
import { wantedValues } from '../facet-values.ts';
import type { EntityFilter } from './store.ts';

export function entityFilter(filters: SearchFilters): EntityFilter {
  return {
    type: filters.type,
    isActive: !filters.includeInactive,
    isRegistered: !filters.includePending,
    facets: wantedValues(filters),
    prerelease: filters.prerelease,
  };
}
