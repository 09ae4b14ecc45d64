// Syncs at regular intervals, one hub at a time.
import { HubError } from '../errors.ts';
import type { Clock, Logger } from '../lib/world.ts';
import type { SyncReport } from './contract.ts';
import type { RemoteBook } from './remotes.ts';
import { BEING_INGESTED, type Sync } from './sync.ts';

export interface BackgroundDependencies {
  sync: Pick<Sync, 'syncRemotes'>;
  book: Pick<RemoteBook, 'list'>;
  intervalMs: number;
  now: Clock;
  log: Logger;
  /** Counts the outcome of each round. */
  count: (outcome: Outcome) => void;
}

type Outcome = 'done' | 'skipped' | 'failed';

export interface Background {
  stop(): void;
}

export function startBackgroundSync({ sync, book, intervalMs, now, log, count }: BackgroundDependencies): Background {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  /** Adds jitter, so that hubs that were started together do not sync at the same moment. */
  function schedule(): void {
    if (!isStopped) timer = setTimeout(round, intervalMs * (0.9 + Math.random() * 0.2)).unref();
  }

  async function round(): Promise<void> {
    try {
      count(await syncIfDue());
    } catch (error) {
      count('failed');
      log.error({ error }, 'Background sync failed');
    }
    schedule();
  }

  /** Skips the round if another hub on the same database synced recently, or is syncing. */
  async function syncIfDue(): Promise<Outcome> {
    const { items } = await book.list();
    // The least recently synced remote decides, because others may have been ingested manually.
    const oldest = Math.min(...items.map(({ last_sync_at }) => (last_sync_at ? Date.parse(last_sync_at) : 0)));
    // A time far in the future comes from a wrong clock.
    if (items.length > 0 && Math.abs(now().getTime() - oldest) < intervalMs / 2)
      return skipped('every remote was read recently');
    try {
      return reported(await sync.syncRemotes(undefined, { background: true }));
    } catch (error) {
      if (error instanceof HubError && error.code === 'sync_running') return skipped('another sync is running');
      throw error;
    }
  }

  function skipped(why: string): Outcome {
    log.info({}, `Background sync skipped: ${why}`);
    return 'skipped';
  }

  function reported({ ingested, count: remotes, errors, registered, failed }: SyncReport): Outcome {
    const counts = { ingested: ingested.length, errors, registered, failed };
    if (remotes === 0 || ingested.length > 0) {
      log.info(counts, 'Background sync done');
      return 'done';
    }
    if (Object.values(errors).every((error) => error === BEING_INGESTED))
      return skipped('every remote is already being ingested');
    log.warn(counts, 'Background sync failed: no remote could be read');
    return 'failed';
  }

  schedule();
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
