// Builds patterns for `like … escape '\'`.

/** Matches the word anywhere in a text; its special characters are escaped. */
export function likePattern(word: string): string {
  return `%${word.replace(/[\\%_]/g, '\\$&')}%`;
}
