// Facet values as indexed, `facet:value` in lower case: those of entities and filters, and their counts.
import { shownTransport } from '../catalog/transport.ts';
import type { SearchFilters, SearchPage } from './contract.ts';

/** What entities can be counted by, apart from their type. */
const FACETS = ['capability', 'framework', 'provider', 'transport'] as const;
export type FacetCounts = Required<Pick<SearchPage, 'facets' | 'facet_totals'>>;
type FacetName = (typeof FACETS)[number];

/** Counts show only the most frequent values. */
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
    transport: filters.transports.map(shownTransport),
  };
  return FACETS.map((facet) => wanted[facet].map((value) => labelOf(facet, value))).filter(({ length }) => length > 0);
}

/** The counts of the values that contain the text, in the form of the API; `type:…` values are always included. */
export function countsFrom(counted: ReadonlyMap<string, number>, text = ''): FacetCounts {
  const part = text.trim().toLowerCase();
  const lists = new Map(['type', ...FACETS].map((facet) => [facet, [] as { value: string; count: number }[]]));
  // A single pass, because a catalog has tens of thousands of values.
  for (const [label, count] of counted) {
    const end = label.indexOf(':');
    const [facet, value] = [label.slice(0, end), label.slice(end + 1)];
    if (facet === 'type' || value.includes(part)) lists.get(facet)?.push({ value, count });
  }
  for (const values of lists.values()) values.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
  return {
    facets: Object.fromEntries([...lists].map(([facet, values]) => [facet, values.slice(0, MOST_VALUES)])),
    facet_totals: Object.fromEntries([...lists].map(([facet, values]) => [facet, values.length])),
  } as FacetCounts;
}

function labelOf(facet: FacetName, value: string): string {
  return `${facet}:${value.toLowerCase()}`;
}
