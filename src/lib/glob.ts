// Patterns with `*` and `?`, matched without regular expressions: no pattern takes longer than its length times that of the text.

/** Case does not count; texts are expected in lower case. */
export function compileGlob(pattern: string): (text: string) => boolean {
  const wanted = pattern.toLowerCase();
  const wildcard = wanted.search(/[*?]/);
  if (wildcard === -1) return (text) => text === wanted;
  const prefix = wanted.slice(0, wildcard);
  if (wanted === `${prefix}*`) return (text) => text.startsWith(prefix);
  if (/^\*[^*?]+\*$/.test(wanted)) {
    const part = wanted.slice(1, -1);
    return (text) => text.includes(part);
  }
  return (text) => text.startsWith(prefix) && matches(wanted, text);
}

/** The same as a pattern of SQL's `like`, for texts in lower case, with `\\` as its escape. */
export function likeOfGlob(pattern: string): string {
  return pattern
    .toLowerCase()
    .replace(/[\\%_]/g, '\\$&')
    .replaceAll('*', '%')
    .replaceAll('?', '_');
}

/** Only the last `*` is ever tried again, because an earlier one can match nothing that the last one cannot. */
function matches(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let read = 0; read < text.length; ) {
    const wanted = pattern[at];
    if (wanted === '*') {
      star = at;
      resume = read;
      at += 1;
    } else if (wanted === '?' || wanted === text[read]) {
      at += 1;
      read += 1;
    } else if (star === -1) {
      return false;
    } else {
      at = star + 1;
      resume += 1;
      read = resume;
    }
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
