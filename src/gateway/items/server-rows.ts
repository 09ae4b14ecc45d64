// Finds the gateway's row for a given server.
import { nameChoices } from '../registration/free-name.ts';
import { isSameTransport, type ServerAddress } from '../registration/server-address.ts';
import { serverBody } from '../registration/server-body.ts';
import type { GatewayItem, RegistrableEntity } from '../store.ts';
import { digestOf, rowOfItem } from './item.ts';
import type { GatewayRow, GatewayRows } from './lookup.ts';
import { comparableUrl } from './names.ts';

export interface OfferedServer {
  entity: RegistrableEntity;
  candidates: readonly [ServerAddress, ...ServerAddress[]];
}

export interface OwnRow {
  item: GatewayItem;
  row: GatewayRow;
}

/** The row that this hub created for the entity with these items, if it still exists. */
export function ownRow(rows: GatewayRows, items: readonly GatewayItem[]): OwnRow | undefined {
  for (const item of items) {
    const row = item.kind === 'gateways' && item.isOurs ? rowOfItem(rows, item) : undefined;
    if (row) return { item: { ...item, id: row.id }, row };
  }
  return undefined;
}

/** The row at one of the server's addresses, regardless of who created it. */
export function offeredRow(rows: GatewayRows, server: OfferedServer): GatewayRow | undefined {
  return server.candidates.flatMap(({ url }) => rows.at(url)).find((row) => isOffered(row, server));
}

export function isOffered(row: GatewayRow, { candidates }: OfferedServer): boolean {
  return candidates.some(
    ({ url, transport }) => row.url === comparableUrl(url) && isSameTransport(row.transport, transport),
  );
}

/** Whether the gateway's row needs no update: it works, is still offered under this name, and was sent with the current body. */
export function isCurrent({ entity, candidates }: OfferedServer, { item, row }: OwnRow): boolean {
  if (row.isInert || !isOffered(row, { entity, candidates }) || !nameChoices(entity).includes(item.name)) return false;
  return candidates
    .flatMap((address) => [address, asStreamable(address)])
    .some((address) => digestOf(serverBody(entity, item.name, address)) === item.bodyDigest);
}

export function asStreamable({ url }: ServerAddress): ServerAddress {
  return { url, transport: 'STREAMABLEHTTP' };
}
