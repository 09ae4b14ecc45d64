// The address of an index → its entries, page by page, without holding up the main thread.
import { FetchError } from '../lib/fetch.ts';
import { createWorkerPool, type WorkerPool } from '../lib/workers.ts';
import type { Fetch } from '../lib/world.ts';
import type { IndexEntry } from './index-formats/index-reader.ts';
import type { IndexAnswer, IndexTask } from './index-worker.ts';
import type { IndexState } from './store.ts';

export interface IndexLimits {
  maxIndexBytes: number;
  timeoutMs: number;
}

export type FetchedPage =
  | { isUnchanged: true }
  | {
      isUnchanged: false;
      entries: () => Iterable<IndexEntry>;
      count: number;
      /** To be kept once everything was ingested. */
      state: Pick<IndexState, 'etag' | 'lastModified'>;
      next?: string;
      tellsChanges: boolean;
    };

export interface IndexFetcher {
  /** @throws FetchError when it cannot be fetched or read. */
  page(url: string, known: Partial<IndexState> & { signal: AbortSignal }): Promise<FetchedPage>;
  close(): Promise<void>;
}

const LONGEST_QUEUE = 100;

export function createIndexFetcher({ fetch, maxIndexBytes, timeoutMs }: IndexLimits & { fetch: Fetch }): IndexFetcher {
  const parsers: WorkerPool<IndexTask, IndexAnswer> = createWorkerPool({
    module: new URL('./index-worker', import.meta.url),
    importer: import.meta.url,
    threads: 1,
    // An index is read seldom, and a parsed one leaves a large heap behind.
    kept: 0,
    longestQueue: LONGEST_QUEUE,
    // A parsed index takes several times its own size.
    heapMb: 64 + Math.ceil((maxIndexBytes / 1_000_000) * 8),
  });

  return {
    async page(url, { etag, lastModified, signal }) {
      const reply = await fetch({
        url,
        headers: conditions({ etag, lastModified }),
        maxBytes: maxIndexBytes,
        timeoutMs,
        signal,
      });
      if (reply.status === 304) return { isUnchanged: true };
      if (reply.status !== 200) throw new FetchError(`answered ${reply.status}`, { isTemporary: reply.status >= 500 });
      const answer = await parsers.run({ bytes: reply.body, url: reply.url });
      if (!answer.ok) throw new FetchError(answer.error, { isTemporary: false });
      return {
        isUnchanged: false,
        entries: () => parsedEntries(answer.chunks),
        count: answer.count,
        state: { etag: reply.headers.etag ?? null, lastModified: reply.headers['last-modified'] ?? null },
        next: answer.next,
        tellsChanges: answer.tellsChanges,
      };
    },
    close: () => parsers.destroy(),
  };
}

function* parsedEntries(chunks: readonly string[]): Generator<IndexEntry> {
  for (const chunk of chunks) yield* JSON.parse(chunk) as IndexEntry[];
}

/** Request headers that let a host answer "not changed". */
export function conditions({
  etag,
  lastModified,
}: {
  etag?: string | null;
  lastModified?: string | null;
}): Record<string, string> {
  return {
    ...(etag ? { 'if-none-match': etag } : {}),
    ...(lastModified ? { 'if-modified-since': lastModified } : {}),
  };
}
