// Converts registrations to and from rows of the entity table and of the gateway items.
import type { Selectable } from 'kysely';
import type { EntityType } from '../../catalog/uid.ts';
import type {
  GatewayItem,
  HeldItem,
  PendingServer,
  RegistrableEntity,
  RegistrationRecord,
} from '../../gateway/store.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { EntityTable, GatewayItemTable } from '../tables.ts';

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
  'is_registrable',
  'status',
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
  'gateway_tries',
  'blocked_at',
  'is_held',
  'status',
] as const satisfies (keyof EntityTable)[];

export const ITEM_COLUMNS = [
  'uid',
  'kind',
  'item_id',
  'name',
  'is_ours',
  'body_digest',
  'asked_at',
] as const satisfies (keyof GatewayItemTable)[];

type RegistrableRow = Pick<EntityRow, (typeof REGISTRABLE_COLUMNS)[number]>;
type ItemRow = Selectable<GatewayItemTable>;

export function registrable(row: RegistrableRow, items: GatewayItem[]): RegistrableEntity {
  return {
    uid: row.uid,
    type: row.type as EntityType,
    name: row.name,
    version: row.version,
    description: row.summary,
    tags: (JSON.parse(row.facets) as { tag: string[] }).tag,
    manifestDigest: row.manifest_digest,
    mcpRegistration: parsed(row.mcp_registration),
    items,
    isRegistered: row.gateway_registered_at !== null,
    isBlocked: row.blocked_at !== null,
    isHeld: row.is_held === 1,
    isDisabled: row.status === 'disabled',
    tries: row.gateway_tries,
  };
}

/** The columns that a registration changes. */
export function recordRow({ uid, at, manifestDigest, error, isNews, nextTryAt, tries }: RegistrationRecord) {
  return {
    uid,
    gateway_registered_at: error === null && isNews ? at.toISOString() : null,
    gateway_error: error,
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
    isRegistrable: row.is_registrable === 1,
    isDisabled: row.status === 'disabled',
  };
}

export function itemRow(uid: string, item: GatewayItem): ItemRow {
  const { kind, id, name, isOurs, bodyDigest, askedAt = null } = item;
  return { uid, kind, item_id: id, name, is_ours: isOurs ? 1 : 0, body_digest: bodyDigest, asked_at: askedAt };
}

export function heldItem(row: ItemRow): HeldItem {
  return {
    uid: row.uid,
    kind: row.kind as GatewayItem['kind'],
    id: row.item_id,
    name: row.name,
    isOurs: row.is_ours === 1,
    bodyDigest: row.body_digest,
    ...(row.asked_at === null ? {} : { askedAt: row.asked_at }),
  };
}

function parsed(registration: string | null): JsonObject | null {
  return registration === null ? null : (JSON.parse(registration) as JsonObject);
}
