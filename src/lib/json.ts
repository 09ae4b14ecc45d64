// JSON values: their types, their depth, and text that every database can store. Uses no Node module, so that the page can import it.

export type JsonObject = { [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What an untrusted document may contain where an object is expected. */
export function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function asObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Undefined for anything but text, and for whitespace. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** The texts in a list, or the one that stands there alone. */
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

/** Whether arrays and objects are nested at most `limit` deep; walks without recursion, so that no input can exhaust the stack. */
export function isWithinDepth(value: unknown, limit: number): boolean {
  let level = [value].filter(isNested);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > limit) return false;
    level = level.flatMap((each): unknown[] => Object.values(each)).filter(isNested);
  }
  return true;
}

/** How many values it holds, at all depths and itself included. */
export function countValues(value: unknown): number {
  let count = 0;
  for (let level = [value]; level.length > 0; level = level.filter(isNested).flatMap((each) => Object.values(each)))
    count += level.length;
  return count;
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** PostgreSQL cannot hold NUL in text, and neither engine half a surrogate pair; whole JSON documents keep both, escaped. */
export function storableText(text: string): string {
  return text.replaceAll('\u0000', '').toWellFormed();
}
