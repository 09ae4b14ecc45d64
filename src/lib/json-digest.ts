// The digest of a JSON value, independent of its formatting.
import { hash } from 'node:crypto';
import { isJsonObject } from './json.ts';

/**
 * Documents that differ only in formatting or key order have the same digest. Follows RFC 8785, except that lone surrogates,
 * which occur in catalogs, are not an error.
 */
export function jsonDigest(value: unknown): string {
  return `sha256:${hash('sha256', canonicalText(value))}`;
}

/** Whether the values differ at most in formatting and key order. */
export function isSameJson(one: unknown, other: unknown): boolean {
  return canonicalText(one) === canonicalText(other);
}

function canonicalText(value: unknown): string {
  return isInOrder(value) ? (JSON.stringify(value) ?? 'null') : sortedText(value);
}

/** Whether the keys of all objects are sorted, as in most published documents: then `JSON.stringify` needs half the time. */
function isInOrder(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isInOrder);
  if (!isJsonObject(value)) return true;
  let last = '';
  for (const key of Object.keys(value)) {
    if (key < last || !isInOrder(value[key])) return false;
    last = key;
  }
  return true;
}

/** Does not use `JSON.stringify` for objects, because that always puts numeric keys first. */
function sortedText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).join(',')}]`;
  // Dates occur in TOML.
  if (!isJsonObject(value) || value instanceof Date) return JSON.stringify(value) ?? 'null';
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${sortedText(value[key])}`);
  return `{${members.join(',')}}`;
}
