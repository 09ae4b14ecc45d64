// What a look at one thing on disk found.

export type Found =
  | { outcome: 'same' }
  /** It is there, and another. */
  | { outcome: 'different' | 'missing'; reason: string }
  /** It cannot be told from here. */
  | { outcome: 'unchecked'; reason: string };

export const SAME: Found = { outcome: 'same' };

export function different(reason: string): Found {
  return { outcome: 'different', reason };
}

export function missing(reason: string): Found {
  return { outcome: 'missing', reason };
}

export function unchecked(reason: string): Found {
  return { outcome: 'unchecked', reason };
}
