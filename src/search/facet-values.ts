// Facet values as indexed, `facet:value` in lower case: those of entities and filters, and their counts.
import { normalTransport } from '../catalog/transport.ts';
import type { SearchFilters, SearchPage } from './contract.ts';

/** What entities can be counted by, apart from their type. */
const FACETS = ['capability', 'framework', 'provider', 'transport'] as const;
export type FacetCounts = NonNullable<SearchPage['facets']>;
type FacetName = (typeof FACETS)[number];

/** Counts include only the most frequent values. */
const MOST_VALUES = 50;

/** Parses an entity's facets from JSON. Tags count as capabilities, because published catalogs use only tags. */
export function facetValues(json: string): string[] {
  const { tag = [], capability = [], ...others } = JSON.parse(json) as Partial<Record<string, string[]>>;
  const lists: typeof others = { ...others, capability: [...capability, ...tag] };
  return [...new Set(FACETS.flatMap((facet) => (lists[facet] ?? []).map((value) => labelOf(facet, value))))];
}

/** The wanted values of each filtered facet; an entity needs one value of each. */
export function wantedValues(filters: SearchFilters): string[][] {
  const wanted: Record<FacetName, readonly string[]> = {
    capability: filters.capabilities,
    framework: filters.frameworks,
    provider: filters.providers,
    transport: filters.transports.map(normalTransport),
  };
  return FACETS.map((facet) => wanted[facet].map((value) => labelOf(facet, value))).filter(({ length }) => length > 0);
}

/** The counts in the form of the API, including those of `type:…` values. */
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
