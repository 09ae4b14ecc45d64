// Scores rankings by the ranks of the relevant results.

export interface Measures {
  'success@1': number;
  'success@5': number;
  'success@10': number;
  MRR: number;
  'nDCG@10': number;
}

/** `ranks` has the ranks of each query's relevant results, from 1; infinity if not found. */
export function summarize(ranks: readonly (readonly number[])[]): Measures {
  const best = ranks.map((each) => Math.min(Number.POSITIVE_INFINITY, ...each));
  const share = (most: number) => mean(best.map((rank) => (rank <= most ? 1 : 0)));
  return {
    'success@1': share(1),
    'success@5': share(5),
    'success@10': share(10),
    MRR: mean(best.map((rank) => 1 / rank)),
    'nDCG@10': mean(ranks.map(gain)),
  };
}

function gain(ranks: readonly number[]): number {
  const value = (rank: number) => (rank <= 10 ? 1 / Math.log2(rank + 1) : 0);
  const ideal = ranks.reduce((sum, _, index) => sum + value(index + 1), 0);
  return ideal === 0 ? 0 : ranks.reduce((sum, rank) => sum + value(rank), 0) / ideal;
}

function mean(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0);
  return values.length === 0 ? 0 : Math.round((sum / values.length) * 1000) / 1000;
}

/** Drops, doubles, changes or swaps one letter; deterministic for each name. */
export function misspelled(name: string): string {
  const seed = [...name].reduce((hash, letter) => (hash * 31 + (letter.codePointAt(0) ?? 0)) >>> 0, 7);
  const letters = [...name.matchAll(/[a-z]{2}/gi)].map(({ index }) => index);
  const at = letters[seed % Math.max(1, letters.length)] ?? 0;
  const pair = name.slice(at, at + 2);
  const [one = '', other = ''] = pair;
  const errors = [other, one + one + other, `x${other}`, other + one];
  return name.slice(0, at) + errors[(seed >>> 8) % errors.length] + name.slice(at + 2);
}
