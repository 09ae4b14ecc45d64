// The audit log: who changed what, when, from where, with which outcome. What is written is never changed; old entries are deleted if AUDIT_DAYS says so.
import { randomBytes } from 'node:crypto';
import { HubError } from '../errors.ts';
import { storableText } from '../lib/json.ts';
import type { Clock, Logger } from '../lib/world.ts';
import type { AuditEntry, AuditPage, AuditQuery, Caller } from './contract.ts';
import type { AuditEnd, AuditStore, StartedEntry } from './store.ts';

/** What somebody asks for; `detail` is what matters of it beside the subject. Never secrets. */
export type AuditedChange = Pick<AuditEntry, 'operation' | 'subject'> & { detail?: string | undefined };

/** How a change ended that threw no error. */
export interface ChangeOutcome {
  outcome: 'ok' | 'failed';
  result?: string | undefined;
}

export interface Audit {
  /** Nothing is changed that is not in the log: it is written down before, and its outcome after. */
  record<T>(
    caller: Caller,
    change: AuditedChange,
    work: () => Promise<T>,
    outcomeOf?: (result: T) => ChangeOutcome,
  ): Promise<T>;
  /** The caller's role or scope does not allow it. */
  recordRefusal(caller: Caller, change: AuditedChange): Promise<void>;
  list(query: AuditQuery): Promise<AuditPage>;
  close(): Promise<void>;
}

export interface AuditDependencies {
  now: Clock;
  log: Logger;
  /** Entries are deleted after these days; without it, never. */
  keepDays: number | undefined;
}

const LONGEST_TEXT = 2_000;
/** Refusals of one caller that are recorded in an hour. Further ones are counted: anybody with a token can send any number. */
const MOST_REFUSALS = 100;
const DELETED_AT_ONCE = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export function createAudit(store: AuditStore, { now, log, keepDays }: AuditDependencies): Audit {
  const refusals = new Map<string, { since: number; count: number }>();
  const hubMark = randomBytes(4).toString('hex');
  let recorded = 0;

  /** Its id sorts by time, then in the order of this hub. Other hubs on the same database have ids of their own. */
  function entryOf(caller: Caller, { operation, subject, detail }: AuditedChange): StartedEntry {
    const at = now().toISOString();
    recorded += 1;
    return {
      id: `${at}-${String(recorded).padStart(8, '0')}-${hubMark}`,
      at,
      caller: shortText(caller.name),
      caller_kind: caller.kind,
      caller_id: caller.id === undefined ? null : shortText(caller.id),
      role: caller.role,
      via: caller.via,
      address: caller.address?.slice(0, LONGEST_TEXT) ?? null,
      operation,
      subject: shortText(subject),
      detail: detail ? shortText(detail) : null,
    };
  }

  const endOf = (outcome: AuditEnd['outcome'], result?: string): AuditEnd => ({
    ended_at: now().toISOString(),
    outcome,
    result: result ? shortText(result) : null,
  });

  /** Undefined for a refusal that is only counted. */
  function refusalOf(caller: Caller, change: AuditedChange): AuditedChange | undefined {
    const key = JSON.stringify([caller.kind, caller.id ?? caller.name]);
    const at = now().getTime();
    const known = refusals.get(key);
    if (known && at - known.since < HOUR_MS) {
      known.count += 1;
      if (known.count > MOST_REFUSALS) return undefined;
      return known.count < MOST_REFUSALS ? change : { ...change, detail: LAST_REFUSAL };
    }
    refusals.set(key, { since: at, count: 1 });
    const counted = (known?.count ?? 0) - MOST_REFUSALS;
    return counted > 0 ? { ...change, detail: `${counted} earlier refusals of this caller were only counted` } : change;
  }

  let isClosed = false;
  let sweeping: Promise<unknown> | undefined;

  /** In small transactions, so that other changes need not wait for a year of entries. */
  async function deleteOlderThan(days: number): Promise<number> {
    const time = new Date(now().getTime() - days * DAY_MS).toISOString();
    for (let deleted = 0; ; ) {
      const count = await store.deleteBefore(time, DELETED_AT_ONCE);
      deleted += count;
      if (count < DELETED_AT_ONCE || isClosed) return deleted;
    }
  }

  function sweep(days: number): void {
    sweeping = deleteOlderThan(days).then(
      (deleted) => deleted > 0 && log.info({ deleted }, `Audit entries older than ${days} days were deleted`),
      (error) => log.error({ error }, 'Old audit entries could not be deleted'),
    );
  }
  if (keepDays !== undefined) sweep(keepDays);
  const timer = keepDays === undefined ? undefined : setInterval(() => sweep(keepDays), HOUR_MS).unref();

  return {
    async close() {
      clearInterval(timer);
      isClosed = true;
      await sweeping;
    },

    async record(caller, change, work, outcomeOf = () => ({ outcome: 'ok' })) {
      const entry = entryOf(caller, change);
      await store.begin(entry);
      // What was done is done: without its end, the entry still says that it was started.
      const end = (ending: AuditEnd) =>
        store
          .end(entry.id, ending)
          .catch((error) => log.error({ error, entry, ending }, 'An outcome could not be written to the audit log'));
      try {
        const result = await work();
        const { outcome, result: words } = outcomeOf(result);
        await end(endOf(outcome, words));
        return result;
      } catch (error) {
        // Not the message: it may quote an address with a secret.
        await end(endOf('failed', error instanceof HubError ? error.code : 'internal_error'));
        throw error;
      }
    },

    async recordRefusal(caller, change) {
      const recorded = refusalOf(caller, change);
      if (!recorded) return;
      const entry = entryOf(caller, recorded);
      await store
        .begin(entry, endOf('refused', 'forbidden'))
        .catch((error) => log.error({ error, entry }, 'A refusal could not be written to the audit log'));
    },

    async list(query) {
      const entries = await store.list({ ...query, limit: query.limit + 1 });
      const items = entries.slice(0, query.limit);
      return { items, next: entries.length > query.limit ? (items.at(-1)?.id ?? null) : null };
    },
  };
}

const LAST_REFUSAL = 'further refusals of this caller within the hour are only counted';

function shortText(text: string): string {
  const storable = storableText(text);
  return storable.length > LONGEST_TEXT ? `${storable.slice(0, LONGEST_TEXT - 2)} …` : storable;
}
