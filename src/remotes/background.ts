// Syncs by itself every so often, by one hub at a time.
import { HubError } from '../errors.ts';
import type { Clock, Logger } from '../lib/world.ts';
import type { RemoteBook } from './remotes.ts';
import type { Sync } from './sync.ts';

export interface BackgroundDependencies {
  sync: Pick<Sync, 'syncRemotes'>;
  book: Pick<RemoteBook, 'list'>;
  intervalMs: number;
  now: Clock;
  log: Logger;
  /** Tells how each round ended. */
  count: (outcome: 'done' | 'skipped' | 'failed') => void;
}

export interface Background {
  stop(): void;
}

/** Timers cannot wait for longer than 24 days: they would fire at once. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

export function startBackgroundSync({ sync, book, intervalMs, now, log, count }: BackgroundDependencies): Background {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  /** Hubs that were started together should not all come at the same moment. */
  function schedule(): void {
    wait(intervalMs * (0.9 + Math.random() * 0.2));
  }

  function wait(ms: number): void {
    if (isStopped) return;
    const step = Math.min(ms, LONGEST_WAIT_MS);
    timer = setTimeout(() => (ms > step ? wait(ms - step) : void round()), step).unref();
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

  /** Another hub on the same database may have done it, or be doing it. */
  async function syncIfDue(): Promise<'done' | 'skipped'> {
    const { items } = await book.list();
    // The one that waited longest decides: others may have been ingested by hand.
    const oldest = Math.min(...items.map(({ last_sync_at }) => (last_sync_at ? Date.parse(last_sync_at) : 0)));
    if (items.length > 0 && now().getTime() - oldest < intervalMs / 2) return 'skipped';
    try {
      const { ingested, errors, registered, failed } = await sync.syncRemotes();
      log.info({ ingested: ingested.length, errors, registered, failed }, 'Background sync done');
      return 'done';
    } catch (error) {
      if (error instanceof HubError && error.code === 'sync_running') return 'skipped';
      throw error;
    }
  }

  schedule();
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
