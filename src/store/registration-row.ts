// Registration ↔ row of the entity table.
import type { Selectable } from 'kysely';
import type { EntityType } from '../catalog/uid.ts';
import type { PendingServer, RegistrableEntity, RegistrationRecord } from '../gateway/store.ts';
import type { JsonObject } from '../lib/json.ts';
import type { EntityTable } from './tables.ts';

type EntityRow = Selectable<EntityTable>;

export const PENDING_COLUMNS = [
  'uid',
  'name',
  'version',
  'source_url',
  'mcp_registration',
  'gateway_error',
  'gateway_registered_at',
  'gateway_tried_at',
  'gateway_next_try_at',
  'gateway_tries',
] as const satisfies (keyof EntityTable)[];

export const REGISTRABLE_COLUMNS = [
  'uid',
  'type',
  'name',
  'version',
  'summary',
  'facets',
  'manifest_digest',
  'mcp_registration',
  'gateway_registered_at',
  'gateway_error',
  'gateway_digest',
  'gateway_tries',
] as const satisfies (keyof EntityTable)[];

export const RECORD_COLUMNS = [
  'uid',
  'gateway_registered_at',
  'gateway_error',
  'gateway_name',
  'gateway_digest',
  'gateway_tried_at',
  'gateway_next_try_at',
  'gateway_tries',
] as const satisfies (keyof EntityTable)[];

type RegistrableRow = Pick<EntityRow, (typeof REGISTRABLE_COLUMNS)[number]> & { own_name: string | null };

export function registrable(row: RegistrableRow): RegistrableEntity {
  const isRegistered = row.gateway_registered_at !== null && row.gateway_error === null;
  return {
    uid: row.uid,
    type: row.type as EntityType,
    name: row.name,
    version: row.version,
    description: row.summary,
    tags: (JSON.parse(row.facets) as { tag: string[] }).tag,
    manifestDigest: row.manifest_digest,
    mcpRegistration: parsed(row.mcp_registration),
    gatewayName: row.own_name,
    isUpToDate: isRegistered && row.gateway_digest === row.manifest_digest,
    hasChanged: row.gateway_digest !== null && row.gateway_digest !== row.manifest_digest,
    tries: row.gateway_tries,
  };
}

export function recordRow({
  uid,
  at,
  manifestDigest,
  error,
  name,
  nextTryAt,
  tries,
}: RegistrationRecord): Pick<EntityRow, (typeof RECORD_COLUMNS)[number]> {
  return {
    uid,
    gateway_registered_at: error === null ? at.toISOString() : null,
    gateway_error: error,
    gateway_name: name,
    gateway_digest: manifestDigest,
    gateway_tried_at: at.toISOString(),
    gateway_next_try_at: nextTryAt?.toISOString() ?? null,
    gateway_tries: tries,
  };
}

export function pendingServer(row: Pick<EntityRow, (typeof PENDING_COLUMNS)[number]>): PendingServer {
  return {
    uid: row.uid,
    name: row.name,
    version: row.version,
    sourceUrl: row.source_url,
    mcpRegistration: parsed(row.mcp_registration),
    gatewayError: row.gateway_error,
    registeredAt: row.gateway_registered_at,
    lastTryAt: row.gateway_tried_at,
    nextTryAt: row.gateway_next_try_at,
    tries: row.gateway_tries,
  };
}

function parsed(registration: string | null): JsonObject | null {
  return registration === null ? null : (JSON.parse(registration) as JsonObject);
}
