// The ingest of one remote, on a real database and against a real host, with short delays.
import { after, type TestContext } from 'node:test';
import { createCatalog } from '../../../src/catalog/catalog.ts';
import type { EntityRecord } from '../../../src/catalog/contract.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { DatabaseAddress } from '../../../src/lib/net/address.ts';
import { createFetch } from '../../../src/lib/net/fetch.ts';
import type { IngestResult } from '../../../src/remotes/contract.ts';
import { createIndexFetcher, type IndexFetcher } from '../../../src/remotes/fetching/fetch-index.ts';
import { createManifestFetcher } from '../../../src/remotes/fetching/fetch-manifest.ts';
import { createPoliteFetch } from '../../../src/remotes/fetching/polite-fetch.ts';
import { ingestRemote } from '../../../src/remotes/ingest/ingest-remote.ts';
import { IngestProgress } from '../../../src/remotes/ingest/progress.ts';
import { createManifestReader } from '../../../src/remotes/ingest/read-manifest.ts';
import type { RunStore } from '../../../src/remotes/store.ts';
import { createCatalogStore } from '../../../src/store/catalog/catalog-store.ts';
import type { Dialect } from '../../../src/store/dialects/dialect.ts';
import { NO_RULES } from '../../../src/store/governance/admission.ts';
import { createMemberStore } from '../../../src/store/remotes/member-store.ts';
import { recordMembers } from '../../../src/store/remotes/record-members.ts';
import { createRemoteStore } from '../../../src/store/remotes/remote-store.ts';
import { createRunStore } from '../../../src/store/remotes/run-store.ts';
import { createRevision } from '../../../src/store/revision.ts';
import { aManifest } from '../../support/builders.ts';
import { emptyDatabase, openHere } from '../../support/databases/databases.ts';
import { type IndexServer, startIndexServer } from '../../support/servers/index-server.ts';
import { type TestWorld, testWorld } from '../../support/world.ts';

export interface TestIngest {
  host: IndexServer;
  world: TestWorld;
  database: Dialect;
  runs: RunStore;
  /** Ingests `/index.json` of the host unless another path or address is given; it is always a stored remote. */
  ingest(
    url?: string,
    options?: {
      signal?: AbortSignal;
      acceptShrunk?: boolean;
      isBackground?: boolean;
      timeLimitMs?: number;
      onStart?: (progress: IngestProgress) => void;
    },
  ): Promise<IngestResult>;
  /** Saves a manifest as an install with a manifest does. */
  saveInline(document: JsonObject, sourceUrl?: string): Promise<unknown>;
  get(id: string): Promise<EntityRecord>;
  manifest(id: string): Promise<JsonObject>;
  ids(): Promise<string[]>;
  revision(): Promise<number>;
  /** Puts manifests at `/m/<id>.json`, and an index that lists them. */
  publish(...manifests: JsonObject[]): void;
}

export interface IngestLimits {
  maxIndexBytes?: number;
  maxManifestBytes?: number;
  timeoutMs?: number;
  requestsPerHost?: number;
}

/** The tests of a file share worker threads: starting one takes as long as a small ingest. */
const network = createFetch({ allowPrivate: true });
const manifestReader = createManifestReader();
const indexFetchers = new Map<string, IndexFetcher>();
after(async () => {
  await Promise.all([...indexFetchers.values()].map((fetcher) => fetcher.close()));
  await manifestReader.close();
  await network.close();
});

function indexFetcher(limits: Required<Pick<IngestLimits, 'maxIndexBytes' | 'timeoutMs'>>): IndexFetcher {
  const key = JSON.stringify(limits);
  const fetch = createPoliteFetch({ fetch: network.fetch, requestsPerHost: 8, backoffMs: () => 1 });
  const fetcher = indexFetchers.get(key) ?? createIndexFetcher({ fetch, ...limits });
  indexFetchers.set(key, fetcher);
  return fetcher;
}

export async function testIngest(
  t: TestContext,
  address: DatabaseAddress,
  {
    maxIndexBytes = 10_000_000,
    maxManifestBytes = 100_000,
    timeoutMs = 60_000,
    requestsPerHost = 8,
  }: IngestLimits = {},
): Promise<TestIngest> {
  const host = await startIndexServer(t);
  const world = testWorld();
  const { now, log } = world;
  const database = await openHere(address, world.metrics);
  const revision = createRevision(database);
  const store = createCatalogStore(database, revision);
  const catalog = createCatalog({ store, now, baseUrl: () => 'http://hub.test', verifyingRemotes: [] });
  const fetch = createPoliteFetch({ fetch: network.fetch, requestsPerHost, backoffMs: () => 1 });
  const fetchIndex = indexFetcher({ maxIndexBytes, timeoutMs });
  const fetchManifest = createManifestFetcher({ fetch, maxManifestBytes, timeoutMs });
  const [remotes, members, runs] = [
    createRemoteStore(database, revision),
    createMemberStore(database, revision, recordMembers(database, { revision, admission: NO_RULES })),
    createRunStore(database),
  ];
  t.after(async () => {
    await world.close();
    // A test may have closed it on purpose.
    await database.close().catch(() => {});
  });
  const readers = { fetchIndex, fetchManifest, manifestReader };

  return {
    host,
    world,
    database,
    runs,
    async ingest(
      url = '/index.json',
      {
        signal = new AbortController().signal,
        acceptShrunk = false,
        isBackground = false,
        timeLimitMs = 60_000,
        onStart = () => {},
      } = {},
    ) {
      const remote = new URL(url, host.origin).href;
      await remotes.add([remote], now());
      const progress = new IngestProgress(remote, now);
      onStart(progress);
      return ingestRemote(
        { ...readers, requestsPerHost, remotes, members, runs, now, log, timeLimitMs },
        { progress, signal, acceptShrunk, isBackground },
      );
    },
    saveInline: (document, sourceUrl) => catalog.save({ document, sourceUrl }),
    get: (id) => catalog.get(id),
    manifest: async (id) => JSON.parse((await catalog.manifest(id)).text),
    async ids() {
      const { items } = await catalog.list({ text: '', sort: 'name', limit: 500, offset: 0 });
      return items.map(({ id }) => id).toSorted();
    },
    revision: () => revision.current(),
    publish(...manifests) {
      for (const manifest of manifests) host.put(`/m/${manifest.id}.json`, manifest);
      host.put('/index.json', { manifests: manifests.map(({ id }) => `m/${id}.json`) });
    },
  };
}

/** For tests that do not depend on the database. */
export async function testIngestOnSqlite(t: TestContext, limits?: IngestLimits): Promise<TestIngest> {
  return testIngest(t, await emptyDatabase(t, 'sqlite'), limits);
}

/** Tools named `a`, `b` and so on. */
export function someManifests(...ids: string[]): JsonObject[] {
  return ids.map((id) => aManifest({ type: 'tool', id, name: id, title: id }));
}

export function countsOf({ stats }: IngestResult): Record<string, number> {
  const { created, updated, unchanged, unchecked, duplicates, conflicts, failed, missing } = stats;
  const counts = { created, updated, unchanged, unchecked, duplicates, conflicts, failed, missing };
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}
