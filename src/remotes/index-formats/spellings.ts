// The generations of the MCP registry spell their keys differently.
import type { JsonObject } from '../../lib/json.ts';

/** What stands under the first of the keys that is there. */
export function either(value: JsonObject, ...keys: string[]): unknown {
  return keys.map((key) => value[key]).find((each) => each !== undefined);
}
