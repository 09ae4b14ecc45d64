// Repairs that run once after each start, while the hub already serves.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Catalog } from '../catalog/catalog.ts';
import { HubError } from '../errors.ts';
import type { Logger } from '../lib/world.ts';

export interface RepairDependencies {
  catalog: Pick<Catalog, 'refreshOutdated'>;
  signal: AbortSignal;
  log: Logger;
}

const DATABASE_RETRY_MS = 5_000;

/** Refreshes entities that an older version mapped differently. Never rejects. */
export async function repair({ catalog, signal, log }: RepairDependencies): Promise<void> {
  const logEntity = (uid: string, error: unknown) => log.error({ uid, error }, `${uid} could not be refreshed`);
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
