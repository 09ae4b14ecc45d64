// Repairs that run once after each start, while the hub already serves.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Catalog } from '../catalog/catalog.ts';
import { HubError } from '../errors.ts';
import type { Logger } from '../lib/world.ts';
import type { Sync } from '../remotes/sync.ts';

export interface RepairDependencies {
  catalog: Pick<Catalog, 'refreshOutdated'>;
  sync: Pick<Sync, 'closeInterrupted'>;
  signal: AbortSignal;
  log: Logger;
}

export interface Repairs {
  /** Entities that an older version of the hub mapped differently. Never rejects. */
  refreshed: Promise<void>;
  /** Ingests that ended with the process that ran them. Never rejects. */
  interruptedClosed: Promise<void>;
}

const DATABASE_RETRY_MS = 5_000;

export function startRepairs({ catalog, sync, signal, log }: RepairDependencies): Repairs {
  const logEntity = (uid: string, error: unknown) => log.error({ uid, error }, `${uid} could not be refreshed`);
  return {
    refreshed: whenDatabaseAnswers(() => catalog.refreshOutdated(signal, logEntity), signal).catch((error) =>
      log.error({ error }, 'Outdated entities could not be refreshed'),
    ),
    interruptedClosed: whenDatabaseAnswers(() => sync.closeInterrupted(), signal).catch((error) =>
      log.error({ error }, 'Interrupted ingests could not be marked as such'),
    ),
  };
}

/** Tries again while the database is unavailable. */
async function whenDatabaseAnswers(work: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
      return;
    } catch (error) {
      if (!(error instanceof HubError && error.code === 'database_unavailable')) throw error;
      await sleep(DATABASE_RETRY_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}
