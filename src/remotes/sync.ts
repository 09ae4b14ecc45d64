// The use cases: ingest one or all remotes; sync, which seeds, ingests and registers.
import pLimit from 'p-limit';
import { HubError } from '../errors.ts';
import type { NewEvent } from '../events/store.ts';
import type { PendingReport, RegistrationEffort, RegistrationProgress } from '../gateway/contract.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { shownAddress } from '../lib/secrets/secret-address.ts';
import type {
  IngestOptions,
  IngestReport,
  IngestResult,
  IngestRun,
  IngestStatus,
  ProgressListener,
  RejectionPage,
  RejectionQuery,
  SyncOptions,
  SyncProgress,
  SyncReport,
} from './contract.ts';
import { ingestRemote, type RemoteIngestDependencies } from './ingest/ingest-remote.ts';
import { IngestProgress } from './ingest/progress.ts';
import type { RemoteBook } from './remotes.ts';
import type { Lock, TryLock } from './store.ts';

export interface Sync {
  /** Takes an address or a name; without one, ingests all enabled remotes. An address that is not stored is ingested, but not added. */
  ingest(reference: string | undefined, onProgress?: ProgressListener, options?: IngestOptions): Promise<IngestReport>;
  /** @throws HubError `sync_running` if a sync is running, here or in another hub on the same database. */
  syncRemotes(onProgress?: ProgressListener, options?: SyncOptions): Promise<SyncReport>;
  /** Whether this hub is running an ingest. */
  isIngesting(): boolean;
  status(): Promise<IngestStatus>;
  rejections(query: RejectionQuery): Promise<RejectionPage>;
  /** Stops running work, and waits for its end. */
  close(): Promise<void>;
}

export interface SyncDependencies extends RemoteIngestDependencies {
  book: RemoteBook;
  gateway: Pick<Gateway, 'registerPending'>;
  tryLock: TryLock;
  /** Notifies webhooks. */
  announce: (event: NewEvent) => Promise<void>;
}

/** Enough that a few unresponsive remotes do not delay the others; threads, requests and writes have separate limits. */
const REMOTES_AT_ONCE = 8;
const PROGRESS_MS = 500;
const LAST_RUNS_SHOWN = 50;

type Registering = Pick<SyncProgress, 'registering' | 'registering_total'>;
const NOT_REGISTERING: Registering = { registering: null, registering_total: null };

interface IngestCall {
  /** The caller's own work, whose progress it receives. */
  own: Set<IngestProgress>;
  acceptShrunk: boolean;
  isBackground: boolean;
  /** Aborted when the enclosing sync must stop. */
  signal: AbortSignal;
}

export function createSync(dependencies: SyncDependencies): Sync {
  const { book, gateway, runs, tryLock, announce, now, log } = dependencies;
  const stopping = new AbortController();
  const running = new Set<IngestProgress>();
  const underWay = new Set<Promise<unknown>>();

  /** Progress of the running registration; one at a time, like syncs. */
  let registering = NOT_REGISTERING;

  function refused(url: string, error: string): IngestResult {
    const progress = new IngestProgress(url, now);
    progress.fail(error);
    return progress.result();
  }

  /** Never rejects, so that a failing remote does not affect others. */
  async function ingestOne(url: string, task: IngestCall): Promise<IngestResult> {
    try {
      const lock = await tryLock(`ingest ${url}`);
      if (!lock) return refused(url, BEING_INGESTED);
      const signal = whileHeld(lock, task.signal);
      return await ingestLocked(url, { ...task, signal }).finally(() => lock.release());
    } catch (error) {
      log.error({ url: shownAddress(url), error }, `Could not ingest ${shownAddress(url)}`);
      return refused(url, error instanceof HubError ? error.message : 'failed inside the hub; its log says more');
    }
  }

  async function ingestLocked(url: string, { own, ...options }: IngestCall): Promise<IngestResult> {
    const progress = new IngestProgress(url, now);
    for (const shown of [running, own]) shown.add(progress);
    const result = await ingestRemote(dependencies, { ...options, progress });
    for (const shown of [running, own]) shown.delete(progress);
    return result;
  }

  function ingestAll(urls: readonly string[], task: IngestCall): Promise<IngestResult[]> {
    return pLimit(REMOTES_AT_ONCE).map(urls, (url) => ingestOne(url, task));
  }

  /** The work continues if the caller disconnects; the hub waits for it when it closes. */
  function tracked<T>(work: Promise<T>, tell: (() => void) | undefined): Promise<T> {
    const timer = tell && setInterval(tell, PROGRESS_MS);
    const settled = work.finally(() => {
      clearInterval(timer);
      underWay.delete(settled);
    });
    underWay.add(settled);
    return settled;
  }

  async function register(effort: RegistrationEffort, signal: AbortSignal): Promise<PendingReport | undefined> {
    const onProgress = ({ done, total }: RegistrationProgress) => {
      registering = { registering: done, registering_total: total };
    };
    try {
      return await gateway.registerPending({ effort, signal, onProgress });
    } finally {
      registering = NOT_REGISTERING;
    }
  }

  async function enabledUrls(): Promise<string[]> {
    const { items } = await book.list();
    return items.filter(({ enabled }) => enabled).map(({ url }) => url);
  }

  async function syncRemotes(own: Set<IngestProgress>, options: SyncOptions): Promise<SyncReport> {
    const lock = await tryLock('sync');
    if (!lock)
      throw new HubError(
        'sync_running',
        'A sync is already running, in this hub or in another one on the same database; try again when it is done.',
      );
    const signal = whileHeld(lock, stopping.signal);
    try {
      const seeded = await book.seedIfEmpty();
      const { count } = await book.list();
      const isBackground = options.background === true;
      const results = await ingestAll(await enabledUrls(), { own, acceptShrunk: false, isBackground, signal });
      const failures = results.filter(({ ok }) => !ok);
      const { synced, ...outcome } = registrationFields(await register(effortOf(options), signal));
      // Another hub may have started a sync, whose report then counts.
      lock.lost?.throwIfAborted();
      const report = {
        seeded,
        ingested: results.filter(({ ok }) => ok).map(({ url }) => url),
        errors: Object.fromEntries(failures.map(({ url, error = 'failed' }) => [url, error])),
        synced,
        count,
        results,
        ...outcome,
      };
      await announce(finishedEvent(report, { isBackground })).catch((error) =>
        log.error({ error }, 'The end of a sync could not be announced to webhooks'),
      );
      return report;
    } finally {
      await lock.release();
    }
  }

  return {
    async ingest(reference, onProgress, { acceptShrunk = false, field } = {}) {
      const urls = reference === undefined ? await enabledUrls() : [await book.urlOf(reference, field)];
      const own = new Set<IngestProgress>();
      const tell = onProgress && (() => onProgress({ running: runsOf(own), ...NOT_REGISTERING }));
      const call = { own, acceptShrunk, isBackground: false, signal: stopping.signal };
      return { results: await tracked(ingestAll(urls, call), tell) };
    },
    syncRemotes(onProgress, options = {}) {
      const own = new Set<IngestProgress>();
      const tell = onProgress && (() => onProgress({ running: runsOf(own), ...registering }));
      return tracked(syncRemotes(own, options), tell);
    },
    async rejections({ url, ...page }) {
      const remote = url === undefined ? undefined : await book.urlOf(url);
      const { items, ...counts } = await runs.rejections({ ...page, url: remote });
      return { ...counts, items: items.map((rejection) => ({ ...rejection, url: shownAddress(rejection.url) })) };
    },
    isIngesting: () => running.size > 0,
    async status() {
      const last = await runs.last(LAST_RUNS_SHOWN);
      return { running: runsOf(running), ...registering, last };
    },
    async close() {
      stopping.abort();
      await Promise.allSettled(underWay);
    },
  };
}

function whileHeld({ lost }: Lock, signal: AbortSignal): AbortSignal {
  return lost ? AbortSignal.any([lost, signal]) : signal;
}

function finishedEvent(report: SyncReport, { isBackground }: { isBackground: boolean }): NewEvent {
  const { count, ingested, errors, results, registered, failed, removed = [], synced, note } = report;
  const sum = (name: 'created' | 'updated' | 'missing') => results.reduce((total, { stats }) => total + stats[name], 0);
  const remotes = { remotes: count, ingested: ingested.length, failed_remotes: Object.keys(errors).map(shownAddress) };
  const entities = { created: sum('created'), updated: sum('updated'), missing: sum('missing') };
  return {
    type: 'sync.finished',
    data: {
      background: isBackground,
      ...remotes,
      ...entities,
      registered,
      failed,
      removed: removed.length,
      synced,
      note: note ?? null,
    },
  };
}

function effortOf({ force = false, background = false }: SyncOptions): RegistrationEffort {
  if (force) return 'force';
  return background ? 'background' : 'explicit';
}

type RegistrationFields = Omit<SyncReport, 'seeded' | 'ingested' | 'errors' | 'count' | 'results'>;

function registrationFields(registration: PendingReport | undefined): RegistrationFields {
  if (!registration) return { synced: false, registered: 0, failed: 0, note: NO_GATEWAY };
  const { ranToEnd: synced, registered, failed, unregistrable, removed, stopped, note } = registration;
  const sentences = [note, stopped && `Registration stopped: ${stopped}`].filter(Boolean).join(' ');
  return {
    synced,
    registered,
    failed,
    ...(unregistrable !== undefined && { unregistrable }),
    ...(removed && { removed }),
    ...(stopped === undefined ? {} : { stopped: true }),
    ...(sentences ? { note: sentences } : {}),
  };
}

const NO_GATEWAY = 'No gateway is configured (MCP_GATEWAY_URL), so no server was registered.';

function runsOf(progress: Iterable<IngestProgress>): IngestRun[] {
  return [...progress].map((each) => each.run());
}

/** The error for a remote that is already being read. */
export const BEING_INGESTED = 'is already being ingested';
