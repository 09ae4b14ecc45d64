// How commands come to a hub: a server that was named, or the local database in this process.
import { setTimeout as sleep } from 'node:timers/promises';
import { HubError } from '../errors.ts';
import type { Hub } from '../hub.ts';
import type { HubOperations } from '../hub-operations.ts';
import type { HubAccess, LocalCatalog } from './command.ts';
import { readEnvFile } from './environment.ts';
import { NotFoundError, UsageError } from './exit-codes.ts';
import type { LocalHub } from './local-hub.ts';
import type { LocalSettings } from './local-settings.ts';
import { oneLine } from './output/text.ts';
import { chooseServer, type ServerChoice } from './server-choice.ts';
import type { Terminal } from './terminal.ts';

export interface OpenAccess extends HubAccess {
  close(): Promise<void>;
}

export interface AccessOptions {
  /** What --hub said; HUB_URL counts when it said nothing. */
  named: string | undefined;
  terminal: Terminal;
}

/** `.env` is read late: a wrong one is no concern of commands that need no settings. */
export function createAccess({ named, terminal }: AccessOptions): OpenAccess {
  const { environment } = terminal;
  const chosen = () => chooseServer({ named, environment, envFile: readEnvFile() });
  let settings: LocalSettings | undefined;
  let local: Promise<LocalHub> | undefined;
  let server: Promise<HubOperations> | undefined;

  /** Once, so that what is to be told of them is told once. */
  async function readSettings(): Promise<LocalSettings> {
    const { readLocalSettings } = await import('./local-settings.ts');
    settings ??= readLocalSettings({ environment, envFile: readEnvFile(), terminal });
    return settings;
  }

  async function openLocal(catalog?: LocalCatalog): Promise<Hub> {
    // Only now: most of the hub's code is for this, and talking to a server should not wait for it to load.
    const { openLocalCatalog } = await import('./local-catalog.ts');
    const isJoined = local !== undefined;
    local ??= openLocalCatalog({ ...catalog, environment, envFile: readEnvFile(), readSettings, terminal });
    // A catalog that is not there may be made for the next who asks.
    local.catch(() => {
      local = undefined;
    });
    try {
      return (await local).hub;
    } catch (error) {
      // Whoever was first may have wanted one that is there, and nothing else.
      if (!isJoined || !(error instanceof NotFoundError) || catalog?.mustExist) throw error;
      return openLocal(catalog);
    }
  }

  return {
    get serverUrl() {
      return chosen()?.url;
    },
    async open(options) {
      const choice = chosen();
      if (choice === undefined) return openLocal(options);
      server ??= openServer(choice, terminal);
      return server;
    },
    openLocal,
    readSettings,
    async settle({ withinMs } = {}) {
      const caughtUp = (await local)?.hub.catchUpSearch();
      if (!caughtUp) return;
      const { shutdown } = terminal;
      const stopped = new Promise<void>((resolve) =>
        shutdown.addEventListener('abort', () => resolve(), { once: true }),
      );
      const late = withinMs === undefined ? [] : [sleep(withinMs, undefined, { ref: false })];
      await Promise.race([caughtUp, stopped, ...late]);
    },
    async close() {
      await (await local?.catch(() => undefined))?.close();
    },
  };
}

async function openServer(choice: ServerChoice, terminal: Terminal): Promise<HubOperations> {
  const { HubClient } = await import('../client/hub-client.ts');
  const { url, token } = choice;
  try {
    return new HubClient({ url, token, onUnauthorized: tokenSource(choice, terminal), signal: terminal.shutdown });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

/** A token that was set and is wrong should be set right, not typed. */
function tokenSource({ url, token, isTokenWithheld }: ServerChoice, { askSecret }: Terminal) {
  if (token !== undefined) return undefined;
  const why = isTokenWithheld ? 'HUB_TOKEN is not sent to an address out of .env. ' : '';
  if (askSecret) return () => askSecret(oneLine(`${why}Token for ${url}:`).concat(' '));
  if (!isTokenWithheld) return undefined;
  return async () => {
    throw new HubError(
      'unauthorized',
      `The hub at ${url} wants a token. HUB_TOKEN of the environment is not sent there, because the address comes from .env in this folder: if it is right, name it with --hub or by HUB_URL in the environment, or put HUB_TOKEN into the same .env.`,
    );
  };
}
