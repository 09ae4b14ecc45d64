// The digest of a JSON value, independent of its formatting.
import { hash } from 'node:crypto';
import { isJsonObject } from './json.ts';

/**
 * The same for two documents that mean the same, whatever the order of their keys. RFC 8785 but for one thing: half a
 * surrogate pair, which occurs in catalogs, is not an error.
 */
export function jsonDigest(value: unknown): string {
  return `sha256:${hash('sha256', canonicalText(value))}`;
}

/** Written out rather than left to `JSON.stringify`, which always puts keys that look like numbers first. */
function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalText(value[key])}`);
  return `{${members.join(',')}}`;
}
