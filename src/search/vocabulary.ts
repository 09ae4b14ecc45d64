// The words that the index knows, found by their beginning or although they are misspelt.

export interface Vocabulary {
  add(term: string): void;
  /** Known terms that go on after this beginning, `limit` of them at most. */
  startingWith(beginning: string, limit: number): string[];
  /** Known terms that one or two typing errors make of this one, best first. */
  similar(term: string, limit: number): { term: string; likeness: number }[];
}

/** Shorter words have too many neighbours, longer ones are no words. */
const SHORTEST_FUZZY = 4;
const LONGEST_FUZZY = 40;
/** From this length on, two errors are forgiven. */
const LONG_WORD = 9;
const BEGINNING = 3;

export function createVocabulary(): Vocabulary {
  const terms: string[] = [];
  const known = new Set<string>();
  const byTrigram = new Map<string, number[]>();
  const byBeginning = new Map<string, number[]>();

  return {
    add(term) {
      if (known.has(term) || term.length < BEGINNING || term.length > LONGEST_FUZZY) return;
      known.add(term);
      const id = terms.push(term) - 1;
      push(byBeginning, term.slice(0, BEGINNING), id);
      for (const trigram of trigramsOf(term)) push(byTrigram, trigram, id);
    },

    startingWith(beginning, limit) {
      const ids = byBeginning.get(beginning.slice(0, BEGINNING)) ?? [];
      const found: string[] = [];
      for (const id of ids) {
        const term = terms[id] as string;
        if (term.length > beginning.length && term.startsWith(beginning)) found.push(term);
        if (found.length === limit) break;
      }
      return found;
    },

    similar(term, limit) {
      if (term.length < SHORTEST_FUZZY || term.length > LONGEST_FUZZY) return [];
      const mostErrors = term.length >= LONG_WORD ? 2 : 1;
      const trigrams = trigramsOf(term);
      const shared = new Map<number, number>();
      for (const trigram of trigrams) {
        for (const id of byTrigram.get(trigram) ?? []) shared.set(id, (shared.get(id) ?? 0) + 1);
      }
      // One error spoils three trigrams at most, and a swap of neighbours four.
      const fewest = Math.max(1, trigrams.size - 4 * mostErrors);
      const found: { term: string; likeness: number }[] = [];
      for (const [id, count] of shared) {
        const other = terms[id] as string;
        if (count < fewest || Math.abs(other.length - term.length) > mostErrors) continue;
        const errors = editDistance(term, other, mostErrors);
        if (errors <= mostErrors) found.push({ term: other, likeness: 1 - errors / term.length });
      }
      return found.toSorted((a, b) => b.likeness - a.likeness || (a.term < b.term ? -1 : 1)).slice(0, limit);
    },
  };
}

function push(lists: Map<string, number[]>, key: string, id: number): void {
  const list = lists.get(key);
  if (list) list.push(id);
  else lists.set(key, [id]);
}

function trigramsOf(term: string): Set<string> {
  const padded = `^${term}$`;
  const trigrams = new Set<string>();
  for (let i = 0; i + 3 <= padded.length; i += 1) trigrams.add(padded.slice(i, i + 3));
  return trigrams;
}

/** Letters added, left out, changed or swapped with their neighbour; anything above `most` is `most + 1`. */
export function editDistance(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const change = (last[j - 1] as number) + (one[i - 1] === other[j - 1] ? 0 : 1);
      let best = Math.min(change, (last[j] as number) + 1, (row[j - 1] as number) + 1);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) {
        best = Math.min(best, (before[j - 2] as number) + 1);
      }
      row.push(best);
    }
    // Both rows: a swap of neighbours reaches back over one.
    if (Math.min(...row, ...last) > most) return most + 1;
    before = last;
    last = row;
  }
  return Math.min(last[other.length] as number, most + 1);
}
