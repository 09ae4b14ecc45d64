// Wires up ingest: fetching, reading and saving manifests, and the background sync.
import { FetchError } from '../lib/net/fetch-error.ts';
import type { World } from '../lib/world.ts';
import { startBackgroundSync } from './background.ts';
import type { IngestResult } from './contract.ts';
import { createRemoteCredentials, type RemoteCredential, type RemoteFetch } from './credentials.ts';
import { createIndexFetcher } from './fetching/fetch-index.ts';
import { createManifestFetcher } from './fetching/fetch-manifest.ts';
import { createPoliteFetch } from './fetching/polite-fetch.ts';
import { IngestProgress } from './ingest/progress.ts';
import { createManifestReader } from './ingest/read-manifest.ts';
import { createSingleManifestFetcher, type FetchSingleManifest } from './ingest/single-manifest.ts';
import { createRemoteBook, normalizedUrl, type RemoteBook } from './remotes.ts';
import { Sync, type SyncDependencies } from './sync.ts';

interface IngestSettings {
  /** 0 disables the background sync. */
  intervalMin: number;
  maxIndexBytes: number;
  maxManifestBytes: number;
  requestTimeoutSec: number;
  requestsPerHost: number;
  remoteTimeoutMin: number;
}

interface OpenRemotesOptions
  extends Pick<SyncDependencies, 'gateway' | 'remotes' | 'members' | 'runs' | 'tryLock' | 'announce'> {
  settings: IngestSettings;
  /** Addresses to add if there are no remotes. */
  seeds: readonly string[];
  credentials: readonly RemoteCredential[];
  /** Identifies entries that come back from other hubs. */
  hubId: string;
  world: Pick<World, 'now' | 'log' | 'fetch' | 'metrics'>;
}

interface Remotes {
  book: RemoteBook;
  sync: Sync;
  /** Stops running work and the background sync. */
  stopWork(): Promise<void>;
  close(): Promise<void>;
}

/** Fetches one manifest by its address, without an ingest. */
export function openManifestFetcher({
  settings: { maxManifestBytes, requestTimeoutSec },
  credentials,
  world,
}: Pick<OpenRemotesOptions, 'credentials'> & {
  settings: Pick<IngestSettings, 'maxManifestBytes' | 'requestTimeoutSec'>;
  world: Pick<World, 'fetch'>;
}): { fetchManifest: FetchSingleManifest; close(): Promise<void> } {
  const reader = createManifestReader();
  const fetch = createRemoteCredentials(credentials).with(world.fetch);
  const fetchManifest = createManifestFetcher({ fetch, maxManifestBytes, timeoutMs: requestTimeoutSec * 1000 });
  return { fetchManifest: createSingleManifestFetcher(fetchManifest, reader), close: () => reader.close() };
}

type IndexCheck = Pick<OpenRemotesOptions, 'settings' | 'credentials'> & {
  world: Pick<World, 'fetch' | 'now'>;
  signal: AbortSignal;
};

/** Reads the first page of an index, and saves nothing. Returns the result of an ingest that would fail because of it. */
export async function checkIndex(
  address: string,
  { signal, ...options }: IndexCheck,
): Promise<IngestResult | undefined> {
  const url = normalizedUrl(address);
  const progress = new IngestProgress(url, options.world.now);
  const { fetchIndex } = createFetchers(options);
  try {
    await fetchIndex.page(url, { remote: url, signal });
    return undefined;
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    progress.fail(error.message);
    return progress.result();
  } finally {
    await fetchIndex.close();
  }
}

function createFetchers({
  settings: { maxIndexBytes, requestTimeoutSec, requestsPerHost },
  credentials,
  world,
  hubId,
}: Pick<IndexCheck, 'settings' | 'credentials'> & { world: Pick<World, 'fetch'>; hubId?: string }) {
  const remoteCredentials = createRemoteCredentials(credentials);
  const timeoutMs = requestTimeoutSec * 1000;
  const politeFetch = remoteCredentials.with(createPoliteFetch({ fetch: world.fetch, requestsPerHost }));
  // A large index on a slow connection may exceed the limit, so only idle time counts.
  const fetchLarge: RemoteFetch = (request) => politeFetch({ ...request, idleTimeoutMs: timeoutMs });
  const hasCredentials = remoteCredentials.isFor;
  const fetchIndex = createIndexFetcher({ fetch: fetchLarge, maxIndexBytes, timeoutMs, hubId, hasCredentials });
  return { politeFetch, fetchIndex, hasCredentials, timeoutMs };
}

export function openRemotes({
  settings,
  seeds,
  credentials,
  hubId,
  world,
  ...dependencies
}: OpenRemotesOptions): Remotes {
  const { now, log, metrics } = world;
  const { maxManifestBytes } = settings;
  const { politeFetch, fetchIndex, hasCredentials, timeoutMs } = createFetchers({
    settings,
    credentials,
    world,
    hubId,
  });
  const manifestReader = createManifestReader();
  const book = createRemoteBook({
    store: dependencies.remotes,
    seeds,
    hasCredentials,
    now,
  });
  const sync = new Sync({
    ...dependencies,
    book,
    fetchIndex,
    fetchManifest: createManifestFetcher({ fetch: politeFetch, maxManifestBytes, timeoutMs }),
    manifestReader,
    requestsPerHost: settings.requestsPerHost,
    timeLimitMs: settings.remoteTimeoutMin * 60_000,
    now,
    log,
  });
  const intervalMs = settings.intervalMin * 60_000;
  const count = metrics.countBackgroundSync;
  const background = intervalMs > 0 ? startBackgroundSync({ sync, book, intervalMs, now, log, count }) : undefined;

  return {
    book,
    sync,
    async stopWork() {
      background?.stop();
      await sync.close();
    },
    async close() {
      await Promise.all([fetchIndex.close(), manifestReader.close()]);
    },
  };
}
