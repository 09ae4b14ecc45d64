// Counts the typing errors between two words.

/** Longer words count as different unless they are equal; nobody types them. */
const LONGEST = 1_000;

/** Reused, because a search compares thousands of words, and new arrays would take longer than comparing. */
let before = new Uint16Array(LONGEST);
let last = new Uint16Array(LONGEST);
let row = new Uint16Array(LONGEST);

/** Letters added, omitted, changed or swapped with a neighbor; returns `most + 1` for anything above `most`. */
export function editDistance(one: string, other: string, most: number): number {
  const tooMany = most + 1;
  if (one === other) return 0;
  if (Math.abs(one.length - other.length) > most || Math.max(one.length, other.length) >= LONGEST) return tooMany;
  for (let j = 0; j <= other.length; j += 1) last[j] = Math.min(j, tooMany);
  let lowestBefore = 0;
  for (let i = 1; i <= one.length; i += 1) {
    // Anything further from the diagonal has too many errors.
    const [from, to] = [Math.max(1, i - most), Math.min(other.length, i + most)];
    row[from - 1] = from === 1 ? Math.min(i, tooMany) : tooMany;
    let lowest = row[from - 1] as number;
    for (let j = from; j <= to; j += 1) {
      const change = (last[j - 1] as number) + (one[i - 1] === other[j - 1] ? 0 : 1);
      let best = Math.min(change, (last[j] as number) + 1, (row[j - 1] as number) + 1, tooMany);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) {
        best = Math.min(best, (before[j - 2] as number) + 1);
      }
      row[j] = best;
      lowest = Math.min(lowest, best);
    }
    row[to + 1] = tooMany;
    // Both rows, because a swap of neighbors refers to the row before the last.
    if (Math.min(lowest, lowestBefore) > most) return tooMany;
    lowestBefore = lowest;
    [before, last, row] = [last, row, before];
  }
  return Math.min(last[other.length] as number, tooMany);
}

/** A bit set of the letters in a word. One typing error changes at most two bits. */
export function lettersOf(word: string): number {
  let letters = 0;
  for (let place = 0; place < word.length; place += 1) letters |= 1 << (word.charCodeAt(place) & 31);
  return letters >>> 0;
}

export function differingLetters(one: number, other: number): number {
  let bits = one ^ other;
  bits -= (bits >>> 1) & 0x55555555;
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}
