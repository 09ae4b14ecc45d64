// Words as patterns for `like … escape '\'`.

/** The word anywhere in a text; no sign in it is special. */
export function likePattern(word: string): string {
  return `%${word.replace(/[\\%_]/g, '\\$&')}%`;
}
