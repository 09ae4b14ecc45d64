// Checks whether a text can be used as a key in a query.

/** No row holds a NUL, and PostgreSQL fails when it is asked for one. */
export function isFindable(text: string): boolean {
  return !text.includes('\u0000');
}
