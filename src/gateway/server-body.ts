// What is sent for a server: the same in every version of the gateway, flat and without a wrapper.
import { serverOf } from '../catalog/server.ts';
import type { JsonObject } from '../lib/json.ts';
import { acceptableText } from './names.ts';
import type { ServerAddress } from './server-address.ts';
import type { RegistrableEntity } from './store.ts';

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

export function credentialsOf({ mcpRegistration }: RegistrableEntity): [string, unknown][] {
  return given(serverOf(mcpRegistration), AUTH_FIELDS);
}

function given(server: JsonObject, keys: readonly string[]): [string, unknown][] {
  return keys.filter((key) => server[key] !== undefined && server[key] !== null).map((key) => [key, server[key]]);
}
