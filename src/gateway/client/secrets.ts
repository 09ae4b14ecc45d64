// Finds the tokens and credentials in a registration, so that they can be removed from the gateway's responses.
import { isJsonObject } from '../../lib/json.ts';

const SECRET_KEYS = /^(auth_(username|password|token|value|header_value|query_param_value)|client_key|headers)$/i;
const SECRET_WORDS = /secret|password|token|api_?key|credential/i;

/** All secrets in a body, at any depth. */
export function secretsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(secretsIn);
  if (!isJsonObject(value)) return [];
  // A header is `{key, value}`; its name is not secret.
  if (typeof value.key === 'string' && 'value' in value) return textsIn(value.value);
  return Object.entries(value).flatMap(([key, member]) =>
    SECRET_KEYS.test(key) || (SECRET_WORDS.test(key) && typeof member === 'string')
      ? textsIn(member)
      : secretsIn(member),
  );
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
}
