// Deletes old entries of the audit log if AUDIT_DAYS is set: at startup, and every hour.
import type { Clock, Logger } from '../lib/world.ts';
import type { AuditStore } from './store.ts';

const DELETED_AT_ONCE = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export function startSweeps(
  store: Pick<AuditStore, 'deleteBefore'>,
  { now, log, keepDays }: { now: Clock; log: Logger; keepDays: number },
): { close(): Promise<void> } {
  let isClosed = false;
  let sweeping: Promise<void> = sweep();
  const timer = setInterval(() => {
    sweeping = sweep();
  }, HOUR_MS).unref();

  async function sweep(): Promise<void> {
    try {
      const deleted = await deleteOld();
      if (deleted > 0) log.info({ deleted }, `Audit entries older than ${keepDays} days were deleted`);
    } catch (error) {
      log.error({ error }, 'Old audit entries could not be deleted');
    }
  }

  /** In small transactions, so that other changes need not wait for a year of entries. */
  async function deleteOld(): Promise<number> {
    const time = new Date(now().getTime() - keepDays * DAY_MS).toISOString();
    for (let deleted = 0; ; ) {
      const count = await store.deleteBefore(time, DELETED_AT_ONCE);
      deleted += count;
      if (count < DELETED_AT_ONCE || isClosed) return deleted;
    }
  }

  return {
    async close() {
      clearInterval(timer);
      isClosed = true;
      await sweeping;
    },
  };
}
