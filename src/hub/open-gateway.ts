// Sets up registration: the client of the gateway, and what is registered through it.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { createGatewayClient, type GatewayClient } from '../gateway/client/client.ts';
import { createTokenSource } from '../gateway/client/token.ts';
import { createGateway, type Gateway } from '../gateway/gateway.ts';
import { createPendingServers, type PendingServers } from '../gateway/items/pending.ts';
import type { World } from '../lib/world.ts';
import type { Dialect } from '../store/dialects/dialect.ts';
import { createItemStore } from '../store/gateway/registration-items.ts';
import { createRegistrationStore } from '../store/gateway/registration-store.ts';
import type { Revision } from '../store/revision.ts';

export interface OpenGatewayDependencies {
  config: Config;
  world: World;
  database: Dialect;
  revision: Revision;
}

export function openGateway({
  config,
  world: { now, log, fetchTrusted },
  database,
  revision,
}: OpenGatewayDependencies): {
  /** Undefined when no gateway is configured. */
  gatewayClient: GatewayClient | undefined;
  gateway: Gateway;
  pending: PendingServers;
} {
  const store = createRegistrationStore(database, revision);
  const gatewayClient =
    config.gateway &&
    createGatewayClient({ ...config.gateway, fetch: fetchTrusted, token: createTokenSource(config.gateway, now) });
  const gateway = createGateway({
    client: gatewayClient,
    store,
    items: createItemStore(database, revision),
    concurrency: config.gateway?.concurrency ?? 1,
    now,
    log,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
  });
  const pending = createPendingServers(store, { hasBackgroundSync: config.ingest.intervalMin > 0 });
  return { gatewayClient, gateway, pending };
}
