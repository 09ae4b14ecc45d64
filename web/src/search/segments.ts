// Which parts of a text were searched for.

/** Endings differ from text to text; a word that begins alike is close enough to be marked. */
const SHORTEST_STEM = 4;

export function segments(text: string, query: string): { part: string; isMatch: boolean }[] {
  const stems = [...new Set(words(query).map(stemOf))];
  if (stems.length === 0) return [{ part: text, isMatch: false }];
  return text
    .split(/([\p{L}\p{N}\p{M}]+)/u)
    .filter((part) => part !== '')
    .map((part) => ({ part, isMatch: stems.some((stem) => folded(part).startsWith(stem)) }));
}

function words(query: string): string[] {
  const all = folded(query).match(/[\p{L}\p{N}]+/gu) ?? [];
  // One Latin letter alone would mark half the page.
  return all.filter((word) => word.length > 1 || /[^a-z\d]/.test(word));
}

/** Long words without their ending. */
function stemOf(word: string): string {
  return word.length > SHORTEST_STEM + 1 ? word.replace(/(?:ings?|ed|es|s|e)$/, '') : word;
}

function folded(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}
