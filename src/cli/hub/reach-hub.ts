// How commands reach a hub: the named server, or the local catalog in this process.
import { userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller, EntryPoint } from '../../access/contract.ts';
import type { Config, Environment } from '../../config.ts';
import type { Hub } from '../../hub/hub.ts';
import type { HubOperations } from '../../hub/operations.ts';
import { describeDatabase } from '../../lib/net/address.ts';
import type { SearchQuery } from '../../search/contract.ts';
import type { HubAccess } from '../command.ts';
import { NotFoundError, UsageError } from '../exit-codes.ts';
import { oneLine } from '../output/text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { readLocalConfig } from './environment.ts';
import type { LocalHub } from './local-hub.ts';

const INDEX_PATIENCE_MS = 60_000;

export interface OpenAccess extends HubAccess {
  close(): Promise<void>;
}

export interface AccessOptions {
  /** The value of --hub, which wins over HUB_URL. */
  named: string | undefined;
  terminal: Terminal;
  /** Whether SQLite runs on the main thread. */
  mayBlock?: boolean;
}

export function createAccess({ named, terminal, mayBlock }: AccessOptions): OpenAccess {
  const { environment } = terminal;
  const serverUrl = named ?? (environment.HUB_URL?.trim() || undefined);
  let known: Config | undefined;
  let local: Promise<LocalHub> | undefined;
  let server: Promise<HubOperations> | undefined;

  function config(): Config {
    known ??= readLocalConfig(environment);
    return known;
  }

  async function localCatalogExists(): Promise<boolean> {
    // Loaded lazily: commands that talk to a server do not need most of the hub's code.
    const { catalogExists } = await import('../../hub/hub.ts');
    return catalogExists(config());
  }

  async function openLocal({ mayCreate = false } = {}): Promise<Hub> {
    if (!local && !mayCreate && !(await localCatalogExists())) throw new NotFoundError(missingSentence(config()));
    const { openLocalHub } = await import('./local-hub.ts');
    local ??= openLocalHub({ config: config(), environment, terminal, mayBlock });
    return (await local).hub;
  }

  return {
    serverUrl,
    config,
    async open(options) {
      if (serverUrl === undefined)
        return whenIndexed((await openLocal(options)).as(machineUser(options?.via)), terminal.shutdown);
      server ??= openServer(serverUrl, terminal);
      return server;
    },
    openLocal,
    findLocal: async () => (local || (await localCatalogExists()) ? openLocal() : undefined),
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

/** Waits before a keyword search until the index of this process is loaded. Each attempt waits a while, and asks no language model. */
function whenIndexed(hub: HubOperations, shutdown: AbortSignal): HubOperations {
  return {
    ...hub,
    async search(query) {
      const deadline = performance.now() + INDEX_PATIENCE_MS;
      const isWaiting = () => query.mode === 'keyword' && performance.now() < deadline && !shutdown.aborted;
      const attempt: SearchQuery = { ...query, rerank: 'none', limit: 1, withFitReason: false, withFacets: false };
      let isReady = false;
      while (!isReady && isWaiting()) isReady = !(await hub.search(attempt)).degraded;
      return hub.search(query);
    },
  };
}

/** A local user has full access to the local catalog. */
export function machineUser(via: EntryPoint = 'command line'): Caller {
  const base = { kind: 'machine user', role: 'admin', scope: [], isKnown: true, via } as const;
  try {
    return { ...base, name: userInfo().username };
  } catch {
    return { ...base, name: 'unknown user' };
  }
}

async function openServer(url: string, terminal: Terminal): Promise<HubOperations> {
  const { HubClient } = await import('../../client/hub-client.ts');
  const token = tokenOf(terminal.environment);
  const { askSecret, shutdown } = terminal;
  // A wrong token must be corrected where it is set, so users are asked only if none is set.
  const ask = token === undefined && askSecret ? () => askSecret(`${oneLine(`Token for ${url}:`)} `) : undefined;
  try {
    return new HubClient({ url, token, onUnauthorized: ask, signal: shutdown });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

function tokenOf({ HUB_TOKEN }: Environment): string | undefined {
  return HUB_TOKEN?.trim() || undefined;
}

function missingSentence({ database }: Config): string {
  const place = database.engine === 'sqlite' ? `at ${database.path}` : `in ${describeDatabase(database)}`;
  return `No catalog ${place} yet. Create one with 'hub serve', or with 'hub remotes add <url>' and 'hub sync', or name a running hub with --hub or HUB_URL.`;
}
