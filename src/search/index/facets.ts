// Matches the facet sets of a segment with filters, and counts them.
import type { SearchFilters } from '../contract.ts';
import { countsFrom, type FacetCounts, wantedValues } from '../facet-values.ts';
import { type Segment, typeOf } from './segment.ts';

/** By facet set: 1 if it matches the filters; undefined when no facet is filtered. */
export function matchingSets(segment: Segment, filters: SearchFilters): Uint8Array | undefined {
  const wanted = wantedValues(filters).map((values) => new Set(values));
  if (wanted.length === 0) return undefined;
  const { facetValues, setValues, setStarts } = segment;
  // One bit per filter; a set matches when its values cover all bits.
  const bits = new Uint8Array(facetValues.length);
  for (let value = 0; value < facetValues.length; value += 1) {
    const text = facetValues.at(value);
    wanted.forEach((texts, filter) => {
      if (texts.has(text)) bits[value] = 1 << filter;
    });
  }
  const all = 2 ** wanted.length - 1;
  return Uint8Array.from({ length: setStarts.length - 1 }, (_, set) => {
    let met = 0;
    for (let position = setStarts[set] as number; position < (setStarts[set + 1] as number); position += 1) {
      met |= bits[setValues[position] as number] as number;
    }
    return met === all ? 1 : 0;
  });
}

export function createFacetCounter() {
  const types = new Map<string, number>();
  const sets = new Map<Segment, Uint32Array>();

  function countValues(): Map<string, number> {
    const totals = new Map(types);
    for (const [{ setStarts, setValues, facetValues }, members] of sets) {
      const values = new Uint32Array(facetValues.length);
      for (let set = 0; set < members.length; set += 1) {
        const number = members[set] as number;
        if (number === 0) continue;
        for (let position = setStarts[set] as number; position < (setStarts[set + 1] as number); position += 1) {
          const value = setValues[position] as number;
          values[value] = (values[value] as number) + number;
        }
      }
      for (let value = 0; value < values.length; value += 1) {
        const number = values[value] as number;
        if (number > 0) add(totals, facetValues.at(value), number);
      }
    }
    return totals;
  }

  return {
    count(segment: Segment, member: number): void {
      add(types, `type:${typeOf(segment.flags[member] as number)}`, 1);
      const members = sets.get(segment) ?? new Uint32Array(segment.setStarts.length - 1);
      sets.set(segment, members);
      const set = segment.facetSets[member] as number;
      members[set] = (members[set] as number) + 1;
    },
    counts: (text?: string): FacetCounts => countsFrom(countValues(), text),
  };
}

function add(totals: Map<string, number>, key: string, number: number): void {
  totals.set(key, (totals.get(key) ?? 0) + number);
}
