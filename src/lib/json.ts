// JSON as a value: its digest, its depth, and text that every database can hold.
import { createHash } from 'node:crypto';

export type JsonObject = { [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The same for two documents that mean the same, whatever the order of their keys. RFC 8785 but for one thing: half a
 * surrogate pair, which occurs in catalogs, is not an error.
 */
export function jsonDigest(value: unknown): string {
  const sorted = JSON.stringify(value, (_key, each: unknown) =>
    isJsonObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  );
  return `sha256:${createHash('sha256').update(sorted).digest('hex')}`;
}

/** Whether arrays and objects are nested at most `limit` deep; walks without recursion, so that no input can exhaust the stack. */
export function isWithinDepth(value: unknown, limit: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return false;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return true;
}

/** PostgreSQL cannot hold NUL in text, and neither engine half a surrogate pair; whole JSON documents keep both, escaped. */
export function storableText(text: string): string {
  return text.replaceAll('\u0000', '').toWellFormed();
}
