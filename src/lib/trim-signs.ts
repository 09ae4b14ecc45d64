// Signs taken off both ends of a text. Needs nothing of Node: the page may use it too.

/** In one pass: a pattern such as `-+$` begins again at each of a hundred thousand signs that are not at the end. */
export function trimSigns(text: string, signs: string): string {
  let start = 0;
  while (start < text.length && signs.includes(text.charAt(start))) start += 1;
  return trimEndSigns(text.slice(start), signs);
}

export function trimEndSigns(text: string, signs: string): string {
  let end = text.length;
  while (end > 0 && signs.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
