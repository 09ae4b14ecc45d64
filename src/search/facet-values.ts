// Facet values in the form of the indexes, `facet:value` in lower case: of entities and filters, and their counts.
import { normalTransport } from '../catalog/transport.ts';
import type { SearchFilters, SearchPage } from './contract.ts';

/** What entities can be counted by, beside their type. */
const FACETS = ['capability', 'framework', 'provider', 'transport'] as const;
export type FacetCounts = NonNullable<SearchPage['facets']>;
type FacetName = (typeof FACETS)[number];

/** Rarer values are left out of counts. */
const MOST_VALUES = 50;

/** Reads an entity's lists by facet from JSON text. Tags count as capabilities: published catalogs use only those. */
export function facetValues(json: string): string[] {
  const { tag = [], capability = [], ...others } = JSON.parse(json) as Partial<Record<string, string[]>>;
  const lists: typeof others = { ...others, capability: [...capability, ...tag] };
  return [...new Set(FACETS.flatMap((facet) => (lists[facet] ?? []).map((value) => labelOf(facet, value))))];
}

/** For each facet that the filters name, its values; an entity needs one of them. */
export function wantedValues(filters: SearchFilters): string[][] {
  const wanted: Record<FacetName, readonly string[]> = {
    capability: filters.capabilities,
    framework: filters.frameworks,
    provider: filters.providers,
    transport: filters.transports.map(normalTransport),
  };
  return FACETS.map((facet) => wanted[facet].map((value) => labelOf(facet, value))).filter(({ length }) => length > 0);
}

/** Counts of values, `type:…` among them, as callers see them. */
export function countsFrom(counted: readonly { value: string; count: number }[]): FacetCounts {
  const of = (facet: string) =>
    counted
      .filter(({ value }) => value.startsWith(`${facet}:`))
      .map(({ value, count }) => ({ value: value.slice(facet.length + 1), count }))
      .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
      .slice(0, MOST_VALUES);
  return Object.fromEntries(['type', ...FACETS].map((facet) => [facet, of(facet)])) as FacetCounts;
}

function labelOf(facet: FacetName, value: string): string {
  return `${facet}:${value.toLowerCase()}`;
}
