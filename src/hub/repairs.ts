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

const DATABASE_RETRY_MS = 5_000;

/** Marks ingests that ended with their process, and refreshes entities that an older version mapped differently. Never rejects. */
export async function repair({ catalog, sync, signal, log }: RepairDependencies): Promise<void> {
  const logEntity = (uid: string, error: unknown) => log.error({ uid, error }, `${uid} could not be refreshed`);
  await whenDatabaseAnswers(() => sync.closeInterrupted(), signal).catch((error) =>
    log.error({ error }, 'Interrupted ingests could not be marked as such'),
  );
  await whenDatabaseAnswers(() => catalog.refreshOutdated(signal, logEntity), signal).catch((error) =>
    log.error({ error }, 'Outdated entities could not be refreshed'),
  );
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
