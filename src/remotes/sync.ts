// The stories: ingest one remote or all of them, and sync: seed, ingest, register.
import { HubError } from '../errors.ts';
import { inOrder } from '../lib/in-order.ts';
import type { Logger } from '../lib/world.ts';
import type { IngestReport, IngestResult, IngestRun, IngestStatus, SyncReport } from './contract.ts';
import { type IngestDependencies, ingestRemote } from './ingest.ts';
import type { Progress } from './progress.ts';
import { normalisedUrl, type RemoteBook } from './remotes.ts';
import type { RunStore, TryLock } from './store.ts';

export interface Sync {
  /** Without an address, all remotes. An address that is no stored remote is ingested and not stored. */
  ingest(url: string | undefined, onProgress?: ProgressListener): Promise<IngestReport>;
  /** @throws HubError `sync_running` when one is under way, here or in another hub on the same database. */
  syncRemotes(onProgress?: ProgressListener): Promise<SyncReport>;
  status(): Promise<IngestStatus>;
  /** Stops what is under way, and waits for its end. */
  close(): Promise<void>;
}

/** Called from time to time with everything that is under way. */
export type ProgressListener = (running: IngestRun[]) => void;

export interface SyncDependencies extends IngestDependencies {
  book: RemoteBook;
  runs: RunStore;
  tryLock: TryLock;
  log: Logger;
}

/** Remotes at a time: a slow one does not hold up the others, and the machine is not flooded. */
const REMOTES_AT_ONCE = { atOnce: 2, weigh: () => 0, mostWeight: 0 };
const PROGRESS_MS = 500;
const LAST_RUNS_SHOWN = 50;

export function createSync(dependencies: SyncDependencies): Sync {
  const { book, runs, tryLock, log } = dependencies;
  const stopping = new AbortController();
  const running = new Set<Progress>();
  const underWay = new Set<Promise<unknown>>();

  const currentRuns = () => [...running].map((progress) => progress.run());

  async function ingestOne(url: string): Promise<IngestResult> {
    const lock = await tryLock(`ingest ${url}`);
    if (!lock) return refused(url, 'is being ingested already');
    let current: Progress | undefined;
    try {
      const onStart = (progress: Progress) => {
        current = progress;
        running.add(progress);
      };
      const result = await ingestRemote(dependencies, { url, signal: stopping.signal, onStart });
      const { errors: _errors, ...counts } = result.stats;
      const write = result.ok ? log.info : log.warn;
      write(
        { url, ...counts, error: result.error },
        result.ok ? `Ingested ${url}` : `Could not ingest ${url}: ${result.error}`,
      );
      return result;
    } finally {
      if (current) running.delete(current);
      await lock.release();
    }
  }

  async function ingestAll(urls: readonly string[]): Promise<IngestResult[]> {
    return Array.fromAsync(inOrder(urls, REMOTES_AT_ONCE, ingestOne));
  }

  /** Whoever asked may go away: the work goes on, and the hub waits for it when it closes. */
  function tracked<T>(work: Promise<T>, onProgress: ProgressListener | undefined): Promise<T> {
    const timer = onProgress && setInterval(() => onProgress(currentRuns()), PROGRESS_MS);
    const settled = work.finally(() => {
      clearInterval(timer);
      underWay.delete(settled);
    });
    underWay.add(settled);
    return settled;
  }

  async function syncRemotes(): Promise<SyncReport> {
    const lock = await tryLock('sync');
    if (!lock)
      throw new HubError('sync_running', 'A sync is under way already; GET /ingest/status shows how far it is.');
    try {
      const seeded = await book.seedIfEmpty();
      const { items } = await book.list();
      const results = await ingestAll(items.map(({ url }) => url));
      const failures = results.filter(({ ok }) => !ok);
      return {
        seeded,
        ingested: results.filter(({ ok }) => ok).map(({ url }) => url),
        errors: Object.fromEntries(failures.map(({ url, error = 'failed' }) => [url, error])),
        synced: false,
        count: items.length,
        registered: 0,
        failed: 0,
      };
    } finally {
      await lock.release();
    }
  }

  return {
    async ingest(url, onProgress) {
      const urls = url === undefined ? (await book.list()).items.map((remote) => remote.url) : [normalisedUrl(url)];
      return { results: await tracked(ingestAll(urls), onProgress) };
    },
    syncRemotes: (onProgress) => tracked(syncRemotes(), onProgress),
    status: async () => ({ running: currentRuns(), last: await runs.last(LAST_RUNS_SHOWN) }),
    async close() {
      stopping.abort();
      await Promise.allSettled(underWay);
    },
  };
}

function refused(url: string, error: string): IngestResult {
  const none = { manifests_seen: 0, entities_upserted: 0, created: 0, updated: 0, unchanged: 0, failed: 0, missing: 0 };
  return { url, ok: false, error, stats: { ...none, elapsed_secs: 0, errors: [] } };
}
