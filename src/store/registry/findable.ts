// Checks whether a string can be used as a key in a query.

/** No row contains a NUL, and PostgreSQL fails on a parameter with one. */
export function isFindable(text: string): boolean {
  return !text.includes('\u0000');
}
