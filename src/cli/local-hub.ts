// A hub in the process of a command, on the local database.
import type { Config, Environment } from '../config.ts';
import { createHub, type Hub } from '../hub.ts';
import { listenerUrl } from '../lib/address.ts';
import type { Logger } from '../lib/world.ts';
import { ERASE_LINE } from './output/progress.ts';
import { oneLine } from './output/text.ts';
import type { Terminal } from './terminal.ts';
import { openWorld } from './world.ts';

const STANDARD_PORT = 443;

export interface LocalHub {
  hub: Hub;
  close(): Promise<void>;
}

export interface LocalHubOptions {
  config: Config;
  /** That of the process, for programs that are started: what `.env` of a folder says is not passed on. */
  environment: Environment;
  terminal: Pick<Terminal, 'writeError' | 'isErrorTerminal' | 'shutdown'>;
}

/** @throws StartError */
export async function openLocalHub({ environment, terminal, ...options }: LocalHubOptions): Promise<LocalHub> {
  const config = withoutBackground(options.config);
  const { world, close: closeWorld } = openWorld(config, lineLogger(terminal), environment);
  try {
    const baseUrl = () => config.baseUrl ?? likelyAddress(config);
    const hub = await createHub({ config, world, baseUrl, isServed: config.baseUrl !== undefined });
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

/** Syncing by itself is for a hub that stays. */
function withoutBackground(config: Config): Config {
  return { ...config, ingest: { ...config.ingest, intervalMin: 0 } };
}

/** Where a hub with these settings would listen. */
function likelyAddress({ host, port, tls }: Config): string {
  return listenerUrl({ host, port: port || STANDARD_PORT, secure: tls !== undefined });
}

/** Only what somebody at the terminal should know; answers are not mixed with a log. */
function lineLogger({ writeError, isErrorTerminal }: LocalHubOptions['terminal']): Logger {
  // There may be a line of progress, which is drawn again.
  const start = isErrorTerminal ? ERASE_LINE : '';
  const tell = (fields: object, message: string) => {
    const { error } = fields as { error?: unknown };
    const said = error instanceof Error ? error.message : error;
    const reason = typeof said === 'string' ? `: ${said}` : '';
    writeError(`${start}hub: ${oneLine(`${message}${reason}`)}\n`);
  };
  return { debug: () => {}, info: () => {}, warn: tell, error: tell };
}
