// Creates the World of a process: clock, network, programs, log and metrics.
import type { Config, Environment } from '../../config.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { createDownload } from '../../lib/net/download.ts';
import { createFetch } from '../../lib/net/fetch.ts';
import { createGuardedProxy } from '../../lib/net/guarded-proxy.ts';
import { proxiesOf } from '../../lib/net/proxies.ts';
import { createRun } from '../../lib/run.ts';
import type { Logger, World } from '../../lib/world.ts';

export interface OpenWorld {
  world: World;
  close(): Promise<void>;
}

export function openWorld(
  { allowPrivateNetwork }: Pick<Config, 'allowPrivateNetwork'>,
  log: Logger,
  environment: Environment,
): OpenWorld {
  const proxyFor = proxiesOf(environment);
  const network = createFetch({ allowPrivate: allowPrivateNetwork }, proxyFor);
  const trusted = createFetch({ allowPrivate: true }, proxyFor);
  const downloads = createDownload({ allowPrivate: allowPrivateNetwork }, { proxyFor });
  const proxy = createGuardedProxy({ allowPrivate: allowPrivateNetwork });
  return {
    world: {
      now: () => new Date(),
      fetch: network.fetch,
      fetchTrusted: trusted.fetch,
      download: downloads.download,
      vetAddress: downloads.vetAddress,
      run: createRun(environment, proxy),
      log,
      metrics: createMetrics(),
    },
    close: async () => void (await Promise.all([network, trusted, downloads, proxy].map((each) => each.close()))),
  };
}
