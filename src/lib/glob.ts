// Matches patterns with `*` and `?` without regular expressions: the time is at most pattern length times text length.

/** Ignores the case of the pattern; texts must be in lower case. */
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

/** Converts to a SQL `like` pattern for texts in lower case, with `\\` as the escape character. */
export function likeOfGlob(pattern: string): string {
  return pattern
    .toLowerCase()
    .replace(/[\\%_]/g, '\\$&')
    .replaceAll('*', '%')
    .replaceAll('?', '_');
}

/** Backtracks only to the last `*`: an earlier one could match nothing that the last one cannot. */
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
