// Sets up registration: the client of the gateway, and what is registered through it.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import { createGatewayClient } from '../../gateway/client/client.ts';
import { createTokenSource } from '../../gateway/client/token.ts';
import { createGateway } from '../../gateway/gateway.ts';
import { createPendingServers } from '../../gateway/items/pending.ts';
import type { World } from '../../lib/world.ts';
import type { Dialect } from '../../store/dialects/dialect.ts';
import { createItemStore } from '../../store/gateway/registration-items.ts';
import { createRegistrationStore } from '../../store/gateway/registration-store.ts';
import type { Revision } from '../../store/revision.ts';

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
}: OpenGatewayDependencies) {
  const store = createRegistrationStore(database, revision);
  // Undefined when no gateway is configured.
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
