// Matches the facet sets of a segment with filters, and counts them.
import type { SearchFilters } from '../contract.ts';
import { wantedValues } from '../facet-values.ts';
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

/** Counts how many of these members have each value; for `countsFrom`. */
export function countFacets(
  found: readonly { segment: Segment; members: Iterable<number> }[],
): ReadonlyMap<string, number> {
  const totals = new Map<string, number>();
  // Many members share a facet set, so sets are counted first.
  const setCounts = new Map<Segment, Uint32Array>();
  for (const { segment, members } of found) {
    const counts = setCounts.get(segment) ?? new Uint32Array(segment.setStarts.length - 1);
    setCounts.set(segment, counts);
    for (const member of members) {
      add(totals, `type:${typeOf(segment.flags[member] as number)}`, 1);
      const set = segment.facetSets[member] as number;
      counts[set] = (counts[set] as number) + 1;
    }
  }
  for (const [segment, counts] of setCounts) addValues(totals, segment, counts);
  return totals;
}

function addValues(totals: Map<string, number>, segment: Segment, setCounts: Uint32Array): void {
  const { setStarts, setValues, facetValues } = segment;
  const counts = new Uint32Array(facetValues.length);
  for (const [set, number] of setCounts.entries()) {
    if (number === 0) continue;
    for (let position = setStarts[set] as number; position < (setStarts[set + 1] as number); position += 1) {
      const value = setValues[position] as number;
      counts[value] = (counts[value] as number) + number;
    }
  }
  for (const [value, number] of counts.entries()) if (number > 0) add(totals, facetValues.at(value), number);
}

function add(totals: Map<string, number>, key: string, number: number): void {
  totals.set(key, (totals.get(key) ?? 0) + number);
}
