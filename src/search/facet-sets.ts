// Lists of facet values that entities share: read once, asked once for each filter, counted by their number.
import { normalTransport } from '../catalog/transport.ts';
import { FACETS, type SearchFilters, type SearchPage } from './contract.ts';

type FacetName = (typeof FACETS)[number];
export type FacetCounts = NonNullable<SearchPage['facets']>;

export interface FacetSets {
  /** The number of a set, given as JSON text; to be released when it is not used any more. */
  use(text: string): number;
  release(id: number): void;
  /** By the number of a set, 1 where its entities meet the filters as far as facets are concerned; undefined: all do. */
  meeting(filters: SearchFilters): Uint8Array | undefined;
  /** How many entities have which value, given how many there are of each set. */
  count(entities: Uint32Array): Omit<FacetCounts, 'type'>;
  /** Numbers of sets are below this. */
  readonly capacity: number;
}

interface FacetSet {
  text: string;
  /** Numbers of its values. */
  values: readonly number[];
  users: number;
}

/** The rest is rare, and nobody reads it. */
const MOST_VALUES = 50;

export function createFacetSets(): FacetSets {
  const ids = new Map<string, number>();
  const sets: FacetSet[] = [];
  const free: number[] = [];
  const valueIds = new Map<string, number>();
  const values: { facet: FacetName; value: string }[] = [];

  function valueId(facet: FacetName, value: string): number {
    const key = `${facet} ${value}`;
    const id = valueIds.get(key) ?? values.push({ facet, value }) - 1;
    valueIds.set(key, id);
    return id;
  }

  function meeting(filters: SearchFilters): Uint8Array | undefined {
    const wanted = wantedValues(filters);
    if (wanted.length === 0) return undefined;
    // One bit for each filter; a set meets them all when its values have all bits together.
    const bits = new Uint8Array(values.length);
    wanted.forEach(([facet, texts], index) => {
      for (const text of texts) {
        const id = valueIds.get(`${facet} ${text}`);
        if (id !== undefined) bits[id] = 1 << index;
      }
    });
    const all = 2 ** wanted.length - 1;
    return Uint8Array.from(sets, (set) => {
      let met = 0;
      for (const id of set.values) met |= bits[id] as number;
      return met === all ? 1 : 0;
    });
  }

  return {
    use(text) {
      let id = ids.get(text);
      if (id === undefined) {
        id = free.pop() ?? sets.length;
        sets[id] = { text, values: readValues(text).map(([facet, value]) => valueId(facet, value)), users: 0 };
        ids.set(text, id);
      }
      (sets[id] as FacetSet).users += 1;
      return id;
    },

    release(id) {
      const set = sets[id] as FacetSet;
      set.users -= 1;
      if (set.users > 0) return;
      ids.delete(set.text);
      free.push(id);
    },

    meeting,

    count(entities) {
      const totals = new Uint32Array(values.length);
      sets.forEach((set, index) => {
        const number = entities[index] ?? 0;
        if (number > 0) for (const id of set.values) totals[id] = (totals[id] as number) + number;
      });
      const counted = values.flatMap(({ facet, value }, id) => {
        const count = totals[id] as number;
        return count > 0 ? [{ facet, value, count }] : [];
      });
      const byFacet = Map.groupBy(counted, ({ facet }) => facet);
      return {
        capability: mostFrequent(byFacet.get('capability')),
        framework: mostFrequent(byFacet.get('framework')),
        provider: mostFrequent(byFacet.get('provider')),
        transport: mostFrequent(byFacet.get('transport')),
      };
    },

    get capacity() {
      return sets.length;
    },
  };
}

function readValues(text: string): [FacetName, string][] {
  const lists = JSON.parse(text) as Partial<Record<FacetName | 'tag', string[]>>;
  // Published catalogs say with tags what they can do.
  const capabilities = [...(lists.capability ?? []), ...(lists.tag ?? [])];
  return FACETS.flatMap((facet) => {
    const texts = facet === 'capability' ? capabilities : (lists[facet] ?? []);
    return [...new Set(texts.map((value) => value.toLowerCase()))].map((value): [FacetName, string] => [facet, value]);
  });
}

function wantedValues(filters: SearchFilters): [FacetName, readonly string[]][] {
  const wanted: Record<FacetName, readonly string[]> = {
    capability: filters.capabilities,
    framework: filters.frameworks,
    provider: filters.providers,
    transport: filters.transports.map(normalTransport),
  };
  return FACETS.filter((facet) => wanted[facet].length > 0).map((facet) => [
    facet,
    wanted[facet].map((value) => value.toLowerCase()),
  ]);
}

function mostFrequent(counted: readonly { value: string; count: number }[] = []): { value: string; count: number }[] {
  // Of thousands of values only those are put in order that can be among the first.
  const least = Uint32Array.from(counted, ({ count }) => count)
    .sort()
    .at(-MOST_VALUES);
  return counted
    .filter(({ count }) => count >= (least ?? 0))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, MOST_VALUES)
    .map(({ value, count }) => ({ value, count }));
}
