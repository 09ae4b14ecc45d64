// Fetches an index and returns its entries page by page. Only short ones are parsed on the main thread.
import { setImmediate as othersFirst } from 'node:timers/promises';
import { FetchError } from '../../lib/net/fetch-error.ts';
import { createTimedPool } from '../../lib/workers/timed-workers.ts';
import type { RemoteFetch } from '../credentials.ts';
import { isLight, LONGEST_LIGHT } from '../light-text.ts';
import type { IndexState } from '../store.ts';
import readIndex, { type IndexAnswer, type IndexTask, type ListedEntry } from './parse-index-worker.ts';

export interface IndexLimits {
  maxIndexBytes: number;
  timeoutMs: number;
}

export interface IndexPage {
  /** Entries in document order, in chunks, each address once; can be iterated repeatedly. */
  chunks: () => AsyncIterable<ListedEntry[]>;
  /** To be stored once everything is ingested. */
  state: Pick<IndexState, 'etag' | 'lastModified'>;
  next?: string;
  /** Whether the host supports requests for changes since a time. */
  tellsChanges: boolean;
  /** Whether the document contains a list, even an empty one. */
  hasList: boolean;
}

/** The remote that requests belong to, and the signal that cancels them. */
export interface FetchTask {
  /** Address of the index. */
  remote: string;
  signal: AbortSignal;
}

/** The host responded, but not with an index. */
export class NoIndexError extends FetchError {}

export interface IndexFetcher {
  /** @throws FetchError if it cannot be fetched or read. */
  page(url: string, task: FetchTask): Promise<IndexPage>;
  /** Resolves to undefined if nothing changed since `known`. @throws FetchError */
  changed(url: string, known: IndexState, task: FetchTask): Promise<IndexPage | undefined>;
  close(): Promise<void>;
}

/** Several, so that one slow parse does not delay other remotes. */
const THREADS = 2;
const LONGEST_QUEUE = 100;
/** The largest JSON takes seconds; hostile YAML can take forever. */
const PARSE_TIMEOUT_MS = 120_000;

export function createIndexFetcher({
  fetch,
  maxIndexBytes,
  timeoutMs,
  hubId,
  hasCredentials = () => false,
}: IndexLimits & {
  fetch: RemoteFetch;
  hubId?: string;
  hasCredentials?: (remote: string) => boolean;
}): IndexFetcher {
  const parsers = createTimedPool<IndexTask, IndexAnswer>({
    module: new URL('./parse-index-worker', import.meta.url),
    importer: import.meta.url,
    threads: THREADS,
    // A parsed index leaves a large heap behind, so threads end soon; pages of a registry arrive within this time.
    idleMs: 1_000,
    longestQueue: LONGEST_QUEUE,
    // A parsed index needs several times its size.
    heapMb: 64 + Math.ceil((maxIndexBytes / 1_000_000) * 8),
    timeoutMs: PARSE_TIMEOUT_MS,
  });

  async function parsed(task: IndexTask, signal: AbortSignal): Promise<Extract<IndexAnswer, { ok: true }>> {
    const onThread = () => parsers.run(task, { signal, transferList: ownMemory(task.bytes) });
    const answer = await (isShort(task) ? Promise.resolve(task).then(readIndex) : onThread()).catch((cause: Error) => {
      signal.throwIfAborted();
      throw new FetchError(cause.message, { isTemporary: false, cause });
    });
    if (!answer.ok) throw new NoIndexError(answer.error, { isTemporary: false });
    return answer;
  }

  async function fetchPage(
    url: string,
    headers: Record<string, string>,
    task: FetchTask,
  ): Promise<IndexPage | undefined> {
    const reply = await fetch({ url, headers, maxBytes: maxIndexBytes, timeoutMs, ...task });
    if (reply.status === 304 && Object.keys(headers).length > 0) return undefined;
    if (reply.status !== 200) throw refused(reply.status, hasCredentials(task.remote));
    const { chunks, next, tellsChanges, hasList } = await parsed(
      { bytes: reply.body, url: reply.url, hubId },
      task.signal,
    );
    return {
      chunks: () => parsedChunks(chunks),
      state: { etag: reply.headers.etag ?? null, lastModified: reply.headers['last-modified'] ?? null },
      next,
      tellsChanges,
      hasList,
    };
  }

  return {
    // Without conditional headers, a host never responds with "not modified".
    page: async (url, task) => (await fetchPage(url, {}, task)) as IndexPage,
    changed: (url, known, task) => fetchPage(url, conditions(known), task),
    close: () => parsers.destroy(),
  };
}

/** A rate limit does not mean that the address has no index. */
function refused(status: number, hasCredentials: boolean): FetchError {
  const Refusal = status === 429 ? FetchError : NoIndexError;
  const advice = hasCredentials
    ? 'it refused the credentials that REMOTE_CREDENTIALS has for it'
    : 'REMOTE_CREDENTIALS can give the hub credentials for it';
  // For example, the address of a hub's view, which is meant for clients.
  const hints: Record<number, string> = {
    401: `; ${advice}`,
    403: `; ${advice}`,
    405: '; for an MCP registry or a view of a hub, use the address of its list, which ends in /v0.1/servers',
  };
  return new Refusal(`answered ${status}${hints[status] ?? ''}`, { isTemporary: status >= 500 });
}

/** Transfers large buffers to the worker; small ones may share their memory with others, and are copied. */
function ownMemory({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}

async function* parsedChunks(chunks: readonly string[]): AsyncGenerator<ListedEntry[]> {
  for (const chunk of chunks) {
    yield JSON.parse(chunk);
    await othersFirst();
  }
}

/** Conditional request headers. Skips malformed values of a host, which must not be sent back. */
export function conditions({
  etag,
  lastModified,
}: {
  etag?: string | null;
  lastModified?: string | null;
}): Record<string, string> {
  return {
    ...(isPlain(etag) ? { 'if-none-match': etag } : {}),
    ...(isPlain(lastModified) ? { 'if-modified-since': lastModified } : {}),
  };
}

function isPlain(value: string | null | undefined): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]{1,1000}$/.test(value);
}

function isShort({ bytes, url }: IndexTask): boolean {
  return bytes.length <= LONGEST_LIGHT && isLight({ url, text: new TextDecoder().decode(bytes) });
}
