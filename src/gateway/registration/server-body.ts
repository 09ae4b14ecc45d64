// Builds the request body of a server: flat, and the same for every gateway version.
import { serverOf } from '../../catalog/server.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { acceptableText } from '../items/names.ts';
import type { RegistrableEntity } from '../store.ts';
import type { ServerAddress } from './server-address.ts';

const AUTH_FIELDS = [
  'auth_type',
  'auth_username',
  'auth_password',
  'auth_token',
  'auth_headers',
  'auth_header_key',
  'auth_header_value',
  'oauth_config',
];
const OTHER_FIELDS = [
  'tags',
  'passthrough_headers',
  'visibility',
  'ca_certificate',
  'refresh_interval_seconds',
  'gateway_mode',
];

export function serverBody(entity: RegistrableEntity, name: string, { url, transport }: ServerAddress): JsonObject {
  const server = serverOf(entity.mcpRegistration);
  const description = acceptableText(typeof server.description === 'string' ? server.description : entity.description);
  return {
    name,
    url,
    transport,
    ...(description ? { description } : {}),
    ...Object.fromEntries([...credentialsOf(entity), ...given(server, OTHER_FIELDS)]),
  };
}

/** Clears the gateway's description if the server has none. */
export function changedServerBody(body: JsonObject): JsonObject {
  return { description: '', ...body };
}

export function credentialsOf({ mcpRegistration }: RegistrableEntity): [string, unknown][] {
  const server = serverOf(mcpRegistration);
  const auth = given(server, AUTH_FIELDS);
  if (auth.some(([key]) => key === 'auth_type')) return auth;
  const headers = knownHeaders(server.headers);
  return headers.length === 0
    ? auth
    : [
        ['auth_type', 'authheaders'],
        ['auth_headers', headers],
      ];
}

/** Skips headers with unfilled placeholders (`${KEY}`, `{key}`). */
function knownHeaders(headers: unknown): { key: string; value: string }[] {
  if (!isJsonObject(headers)) return [];
  return Object.entries(headers).flatMap(([key, value]) =>
    typeof value === 'string' && value !== '' && !/\{[^{}]*\}/.test(value) ? [{ key, value }] : [],
  );
}

function given(server: JsonObject, keys: readonly string[]): [string, unknown][] {
  return keys.filter((key) => server[key] !== undefined && server[key] !== null).map((key) => [key, server[key]]);
}
