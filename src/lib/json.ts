// JSON values: their types, depth and storable text. Uses no Node module, so that the page can import it.

export type JsonObject = { [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** For untrusted documents: anything but an object becomes an empty object. */
export function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** A member of a document; its names may be those of built-in members, such as `constructor`. */
export function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export function asObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Undefined for anything but text, and for whitespace. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** The strings in a list, or a single string as a list of one. */
export function asTexts(value: unknown): string[] {
  return [value].flat().flatMap((each) => asText(each) ?? []);
}

/** Undefined for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether arrays and objects are nested at most `limit` deep. Looks no deeper, so that no input can exhaust the stack. */
export function isWithinDepth(value: unknown, limit: number): boolean {
  if (!isNested(value)) return true;
  return limit > 0 && Object.values(value).every((each) => isWithinDepth(each, limit - 1));
}

/** The number of values at all depths, including itself. */
export function countValues(value: unknown): number {
  let count = 0;
  for (let level = [value]; level.length > 0; level = level.filter(isNested).flatMap((each) => Object.values(each)))
    count += level.length;
  return count;
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** PostgreSQL cannot store NUL in text, and neither engine can store a lone surrogate; JSON documents keep both, escaped. */
export function storableText(text: string): string {
  return text.replaceAll('\u0000', '').toWellFormed();
}
