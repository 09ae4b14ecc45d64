// Wires up ingest: fetching, reading and saving manifests, and the background sync.
import type { World } from '../lib/world.ts';
import { startBackgroundSync } from './background.ts';
import { createRemoteCredentials, type RemoteCredential, type RemoteFetch } from './credentials.ts';
import { createIndexFetcher } from './fetching/fetch-index.ts';
import { createManifestFetcher } from './fetching/fetch-manifest.ts';
import { createPoliteFetch } from './fetching/polite-fetch.ts';
import { createManifestReader } from './ingest/read-manifest.ts';
import { createSingleManifestFetcher, type FetchSingleManifest } from './ingest/single-manifest.ts';
import { createRemoteBook, type RemoteBook } from './remotes.ts';
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

export function openRemotes({
  settings,
  seeds,
  credentials,
  hubId,
  world,
  ...dependencies
}: OpenRemotesOptions): Remotes {
  const { now, log, metrics } = world;
  const remoteCredentials = createRemoteCredentials(credentials);
  const { maxIndexBytes, maxManifestBytes } = settings;
  const timeoutMs = settings.requestTimeoutSec * 1000;
  const politeFetch = remoteCredentials.with(
    createPoliteFetch({ fetch: world.fetch, requestsPerHost: settings.requestsPerHost }),
  );
  // A large index on a slow connection may exceed the limit, so only idle time counts.
  const fetchLarge: RemoteFetch = (request) => politeFetch({ ...request, idleTimeoutMs: timeoutMs });
  const fetchIndex = createIndexFetcher({
    fetch: fetchLarge,
    maxIndexBytes,
    timeoutMs,
    hubId,
    hasCredentials: remoteCredentials.isFor,
  });
  const manifestReader = createManifestReader();
  const book = createRemoteBook({
    store: dependencies.remotes,
    seeds,
    hasCredentials: remoteCredentials.isFor,
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
