// How commands come to a hub: a server that was named, or the local database in this process.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../config.ts';
import type { Hub } from '../hub.ts';
import type { HubOperations } from '../hub-operations.ts';
import type { HubAccess } from './command.ts';
import { UsageError } from './exit-codes.ts';
import type { LocalHub } from './local-hub.ts';
import type { Terminal } from './terminal.ts';

export interface OpenAccess extends HubAccess {
  close(): Promise<void>;
}

export interface AccessOptions {
  /** What --hub said; HUB_URL counts when it said nothing. */
  named: string | undefined;
  /** Asked late: a wrong `.env` is no concern of commands that need no settings. */
  environment: () => Environment;
  terminal: Terminal;
}

export function createAccess({ named, environment, terminal }: AccessOptions): OpenAccess {
  const serverUrl = () => named ?? (environment().HUB_URL?.trim() || undefined);
  let local: Promise<LocalHub> | undefined;
  let server: Promise<HubOperations> | undefined;

  async function openLocal(options: { mustExist: boolean }): Promise<Hub> {
    // Only now: most of the hub's code is for this, and talking to a server should not wait for it to load.
    const { openLocalHub } = await import('./local-hub.ts');
    local ??= openLocalHub({ environment: environment(), terminal, ...options });
    return (await local).hub;
  }

  return {
    get serverUrl() {
      return serverUrl();
    },
    async open({ mustExist = false } = {}) {
      const url = serverUrl();
      if (url === undefined) return openLocal({ mustExist });
      server ??= openServer(url, environment(), terminal);
      return server;
    },
    openLocal: ({ mustExist = false } = {}) => openLocal({ mustExist }),
    async settle({ withinMs } = {}) {
      const caughtUp = (await local)?.hub.catchUpSearch();
      const late = withinMs === undefined ? [] : [sleep(withinMs, undefined, { ref: false })];
      if (caughtUp) await Promise.race([caughtUp, ...late]);
    },
    async close() {
      await (await local?.catch(() => undefined))?.close();
    },
  };
}

async function openServer(url: string, environment: Environment, terminal: Terminal): Promise<HubOperations> {
  const { HubClient } = await import('../client/hub-client.ts');
  const token = environment.HUB_TOKEN?.trim() || undefined;
  const { askSecret, shutdown } = terminal;
  try {
    return new HubClient({
      url,
      token,
      // A token that was set and is wrong should be set right, not typed.
      onUnauthorized: token === undefined && askSecret ? () => askSecret(`Token for ${url}: `) : undefined,
      signal: shutdown,
    });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}
