// Which row of the gateway is a given server.
import { nameChoices } from './free-name.ts';
import type { GatewayRow, GatewayRows } from './lookup.ts';
import { comparableUrl, slugOf } from './names.ts';
import { isSameTransport, type ServerAddress } from './server-address.ts';
import { credentialsOf } from './server-body.ts';
import type { RegistrableEntity } from './store.ts';

export interface OfferedServer {
  entity: RegistrableEntity;
  candidates: readonly [ServerAddress, ...ServerAddress[]];
}

/** The one it was registered as before, or one with its very address. */
export function knownRow(
  rows: GatewayRows,
  server: OfferedServer,
): { row: GatewayRow; isUnchanged: boolean } | undefined {
  const { entity } = server;
  const own = entity.gatewayName === null ? undefined : rows.named(entity.gatewayName)[0];
  const offered = offeredRow(rows, server);
  if (own && own !== offered) return { row: own, isUnchanged: isOffered(own, server) };
  // The list does not show credentials, so that new ones are sent whenever there may be some.
  const mayHaveNewCredentials = own !== undefined && !entity.isUpToDate && credentialsOf(entity).length > 0;
  return offered && { row: offered, isUnchanged: !mayHaveNewCredentials };
}

export function offeredRow(rows: GatewayRows, server: OfferedServer): GatewayRow | undefined {
  return server.candidates.flatMap(({ url }) => rows.at(url)).find((row) => isOffered(row, server));
}

/** Whether the hub gave it the name that it has. */
export function isOurs(row: GatewayRow, entity: RegistrableEntity): boolean {
  return nameChoices(entity).some((name) => row.slugs.includes(slugOf(name)));
}

function isOffered(row: GatewayRow, { candidates }: OfferedServer): boolean {
  return candidates.some(
    ({ url, transport }) => row.url === comparableUrl(url) && isSameTransport(row.transport, transport),
  );
}
