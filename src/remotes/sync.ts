// The use cases: ingest one or all remotes; sync, which seeds, ingests and registers.
import pLimit from 'p-limit';
import { HubError } from '../errors.ts';
import type { NewEvent } from '../events/store.ts';
import type { PendingReport, RegistrationEffort, RegistrationProgress } from '../gateway/contract.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { shownAddress } from '../lib/secrets/secret-address.ts';
import type { Clock } from '../lib/world.ts';
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
import { finishedEvent, syncReport } from './finished-sync.ts';
import { ingestRemote, type RemoteIngestDependencies } from './ingest/ingest-remote.ts';
import { IngestProgress } from './ingest/progress.ts';
import type { RemoteBook } from './remotes.ts';
import type { Lock, TryLock } from './store.ts';

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

export class Sync {
  private readonly given: SyncDependencies;
  private readonly stopping = new AbortController();
  private readonly running = new Set<IngestProgress>();
  private readonly underWay = new Set<Promise<unknown>>();
  /** Progress of the running registration; one at a time, like syncs. */
  private registering = NOT_REGISTERING;

  constructor(given: SyncDependencies) {
    this.given = given;
  }

  /** Takes an address or a name; without one, ingests all enabled remotes. An address that is not stored is ingested, but not added. */
  async ingest(
    reference: string | undefined,
    onProgress?: ProgressListener,
    { acceptShrunk = false, field }: IngestOptions = {},
  ): Promise<IngestReport> {
    const urls = reference === undefined ? await this.enabledUrls() : [await this.given.book.urlOf(reference, field)];
    const own = new Set<IngestProgress>();
    const tell = onProgress && (() => onProgress({ running: runsOf(own), ...NOT_REGISTERING }));
    const call = { own, acceptShrunk, isBackground: false, signal: this.stopping.signal };
    return { results: await this.tracked(this.ingestAll(urls, call), tell) };
  }

  /** @throws HubError `sync_running` if a sync is running, here or in another hub on the same database. */
  syncRemotes(onProgress?: ProgressListener, options: SyncOptions = {}): Promise<SyncReport> {
    const own = new Set<IngestProgress>();
    const tell = onProgress && (() => onProgress({ running: runsOf(own), ...this.registering }));
    return this.tracked(this.syncLocked(own, options), tell);
  }

  /** Whether this hub is running an ingest. */
  isIngesting(): boolean {
    return this.running.size > 0;
  }

  async status(): Promise<IngestStatus> {
    const last = await this.given.runs.last(LAST_RUNS_SHOWN);
    return { running: runsOf(this.running), ...this.registering, last };
  }

  async rejections({ url, ...page }: RejectionQuery): Promise<RejectionPage> {
    const { book, runs } = this.given;
    const remote = url === undefined ? undefined : await book.urlOf(url);
    const { items, ...counts } = await runs.rejections({ ...page, url: remote });
    return { ...counts, items: items.map((rejection) => ({ ...rejection, url: shownAddress(rejection.url) })) };
  }

  /** Stops running work, and waits for its end. */
  async close(): Promise<void> {
    this.stopping.abort();
    await Promise.allSettled(this.underWay);
  }

  private async syncLocked(own: Set<IngestProgress>, options: SyncOptions): Promise<SyncReport> {
    const { book, tryLock, announce, log } = this.given;
    const lock = await tryLock('sync');
    if (!lock)
      throw new HubError(
        'sync_running',
        'A sync is already running, in this hub or in another one on the same database; try again when it is done.',
      );
    const signal = whileHeld(lock, this.stopping.signal);
    try {
      const seeded = await book.seedIfEmpty();
      const { count } = await book.list();
      const isBackground = options.background === true;
      const call = { own, acceptShrunk: false, isBackground, signal };
      const results = await this.ingestAll(await this.enabledUrls(), call);
      const registration = await this.register(effortOf(options), signal);
      // Another hub may have started a sync, whose report then counts.
      lock.lost?.throwIfAborted();
      const report = syncReport({ seeded, count, results, registration });
      await announce(finishedEvent(report, { isBackground })).catch((error) =>
        log.error({ error }, 'The end of a sync could not be announced to webhooks'),
      );
      return report;
    } finally {
      await lock.release();
    }
  }

  private async enabledUrls(): Promise<string[]> {
    const { items } = await this.given.book.list();
    return items.filter(({ enabled }) => enabled).map(({ url }) => url);
  }

  private ingestAll(urls: readonly string[], call: IngestCall): Promise<IngestResult[]> {
    return pLimit(REMOTES_AT_ONCE).map(urls, (url) => this.ingestOne(url, call));
  }

  /** Never rejects, so that a failing remote does not affect others. */
  private async ingestOne(url: string, call: IngestCall): Promise<IngestResult> {
    const { tryLock, now, log } = this.given;
    try {
      const lock = await tryLock(`ingest ${url}`);
      if (!lock) return refused(url, BEING_INGESTED, now);
      const signal = whileHeld(lock, call.signal);
      return await this.ingestLocked(url, { ...call, signal }).finally(() => lock.release());
    } catch (error) {
      log.error({ url: shownAddress(url), error }, `Could not ingest ${shownAddress(url)}`);
      return refused(url, error instanceof HubError ? error.message : 'failed inside the hub; its log says more', now);
    }
  }

  private async ingestLocked(url: string, { own, ...options }: IngestCall): Promise<IngestResult> {
    const progress = new IngestProgress(url, this.given.now);
    for (const shown of [this.running, own]) shown.add(progress);
    const result = await ingestRemote(this.given, { ...options, progress });
    for (const shown of [this.running, own]) shown.delete(progress);
    return result;
  }

  private async register(effort: RegistrationEffort, signal: AbortSignal): Promise<PendingReport | undefined> {
    const onProgress = ({ done, total }: RegistrationProgress) => {
      this.registering = { registering: done, registering_total: total };
    };
    try {
      return await this.given.gateway.registerPending({ effort, signal, onProgress });
    } finally {
      this.registering = NOT_REGISTERING;
    }
  }

  /** The work continues if the caller disconnects; the hub waits for it when it closes. */
  private tracked<T>(work: Promise<T>, tell: (() => void) | undefined): Promise<T> {
    const timer = tell && setInterval(tell, PROGRESS_MS);
    const settled = work.finally(() => {
      clearInterval(timer);
      this.underWay.delete(settled);
    });
    this.underWay.add(settled);
    return settled;
  }
}

function refused(url: string, error: string, now: Clock): IngestResult {
  const progress = new IngestProgress(url, now);
  progress.fail(error);
  return progress.result();
}

function whileHeld({ lost }: Lock, signal: AbortSignal): AbortSignal {
  return lost ? AbortSignal.any([lost, signal]) : signal;
}

function effortOf({ force = false, background = false }: SyncOptions): RegistrationEffort {
  if (force) return 'force';
  return background ? 'background' : 'explicit';
}

function runsOf(progress: Iterable<IngestProgress>): IngestRun[] {
  return [...progress].map((each) => each.run());
}

/** The error for a remote that is already being read. */
export const BEING_INGESTED = 'is already being ingested';
