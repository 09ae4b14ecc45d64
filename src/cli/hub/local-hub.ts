// A hub in the process of a command, on the local database.
import type { Config, Environment } from '../../config.ts';
import { createHub, type Hub } from '../../hub/hub.ts';
import { listenerUrl } from '../../lib/net/address.ts';
import { lineLogger } from '../terminal/line-logger.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { openWorld } from './world.ts';

const STANDARD_PORT = 443;

export interface LocalHub {
  hub: Hub;
  close(): Promise<void>;
}

export interface LocalHubOptions {
  config: Config;
  /** For child processes. */
  environment: Environment;
  mayBlock?: boolean;
  terminal: Pick<Terminal, 'writeError' | 'isErrorTerminal' | 'shutdown'>;
}

/** @throws StartError */
export async function openLocalHub({
  environment,
  terminal,
  mayBlock,
  ...options
}: LocalHubOptions): Promise<LocalHub> {
  const config = withoutBackground(options.config);
  const { world, close: closeWorld } = openWorld(config, lineLogger(terminal), environment);
  try {
    const baseUrl = () => config.baseUrl ?? likelyAddress(config);
    const hub = await createHub({ config, world, baseUrl, isServed: config.baseUrl !== undefined, mayBlock });
    const stop = () => void hub.stopWork();
    terminal.shutdown.addEventListener('abort', stop, { once: true });
    return {
      hub,
      async close() {
        terminal.shutdown.removeEventListener('abort', stop);
        await hub.close();
        await closeWorld();
      },
    };
  } catch (error) {
    await closeWorld();
    throw error;
  }
}

/** Only a hub that keeps running syncs in the background. */
function withoutBackground(config: Config): Config {
  return { ...config, ingest: { ...config.ingest, intervalMin: 0 } };
}

/** The address at which a hub with these settings would listen. */
function likelyAddress({ host, port, tls }: Config): string {
  return listenerUrl({ host, port: port || STANDARD_PORT, secure: tls !== undefined });
}
