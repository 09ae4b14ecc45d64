// Filters and facet values as the tables have them: `facet:value`, in lower case.
import { normalTransport } from '../../catalog/transport.ts';
import { FACETS, type SearchFilters, type SearchPage } from '../contract.ts';
import type { EntityFilter } from './store.ts';

export type FacetCounts = NonNullable<SearchPage['facets']>;

const MOST_VALUES = 50;

/** Of an entity's lists by facet, as JSON text. Tags count as capabilities: published catalogs use only those. */
export function facetValues(json: string): string[] {
  const lists = JSON.parse(json) as Partial<Record<string, string[]>>;
  const values = FACETS.flatMap((facet) =>
    [...(lists[facet] ?? []), ...(facet === 'capability' ? (lists.tag ?? []) : [])].map(
      (value) => `${facet}:${value.toLowerCase()}`,
    ),
  );
  return [...new Set(values)];
}

export function entityFilter(filters: SearchFilters): EntityFilter {
  const lists = [
    filters.capabilities.map((value) => `capability:${value.toLowerCase()}`),
    filters.frameworks.map((value) => `framework:${value.toLowerCase()}`),
    filters.providers.map((value) => `provider:${value.toLowerCase()}`),
    filters.transports.map((value) => `transport:${normalTransport(value).toLowerCase()}`),
  ];
  return {
    type: filters.type,
    isActive: !filters.includeInactive,
    isRegistered: !filters.includePending,
    facets: lists.filter((list) => list.length > 0),
    prerelease: filters.prerelease,
  };
}

/** Of values written `facet:value`, `type:…` among them. */
export function countsFrom(counted: readonly { value: string; count: number }[]): FacetCounts {
  const of = (facet: string) =>
    counted
      .filter(({ value }) => value.startsWith(`${facet}:`))
      .map(({ value, count }) => ({ value: value.slice(facet.length + 1), count }))
      .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
      .slice(0, MOST_VALUES);
  return {
    type: of('type'),
    capability: of('capability'),
    framework: of('framework'),
    provider: of('provider'),
    transport: of('transport'),
  };
}
