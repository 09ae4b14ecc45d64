// The audit log: who changed what, when, from where, with which outcome. Entries are never updated.
import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { HubError } from '../errors.ts';
import { storableText } from '../lib/json.ts';
import { withoutSecrets } from '../lib/secrets/known-secrets.ts';
import type { Clock, Logger } from '../lib/world.ts';
import type { AuditEntry, AuditPage, AuditQuery, Caller } from './contract.ts';
import type { AuditEnd, AuditStore, StartedEntry } from './store.ts';

/** A requested change; `detail` contains its important values besides the subject. Never secrets. */
export type AuditedChange = Pick<AuditEntry, 'operation' | 'subject'> & { detail?: string | undefined };

/** The outcome of a change that threw no error. */
export interface ChangeOutcome {
  outcome: 'ok' | 'failed';
  result?: string | undefined;
}

export interface Audit {
  /** Writes an entry before the change and its outcome afterward, so that nothing is changed without an entry. */
  record<T>(
    caller: Caller,
    change: AuditedChange,
    work: () => Promise<T>,
    outcomeOf?: (result: T) => ChangeOutcome,
  ): Promise<T>;
  /** For calls that the caller's role or scope does not allow. */
  recordRefusal(caller: Caller, change: AuditedChange): Promise<void>;
  list(query: AuditQuery): Promise<AuditPage>;
}

const LONGEST_TEXT = 2_000;
/** Refusals of one caller that are recorded per hour. */
const MOST_REFUSALS = 100;
const HOUR_MS = 3_600_000;
const LAST_REFUSAL = 'further refusals of this caller within the hour are not recorded';

interface AuditOptions {
  now: Clock;
  log: Logger;
  /** Removed from every recorded text. */
  secrets: readonly string[];
}

export function createAudit(store: AuditStore, { now, log, secrets }: AuditOptions): Audit {
  /** The number of refusals in the last hour, by caller. */
  const refusals = new LRUCache<string, number>({ max: 10_000, ttl: HOUR_MS, noUpdateTTL: true });
  const hubMark = randomBytes(4).toString('hex');
  let recorded = 0;

  const shown = (text: string) => shortText(withoutSecrets(text, secrets));

  /** The id sorts by time, then by sequence in this hub. It never collides with ids of other hubs on the same database. */
  function entryOf(caller: Caller, { operation, subject, detail }: AuditedChange): StartedEntry {
    const at = now().toISOString();
    recorded += 1;
    return {
      id: `${at}-${String(recorded).padStart(8, '0')}-${hubMark}`,
      at,
      caller: shown(caller.name),
      caller_kind: caller.kind,
      caller_id: caller.id === undefined ? null : shown(caller.id),
      role: caller.role,
      via: caller.via,
      address: caller.address?.slice(0, LONGEST_TEXT) ?? null,
      operation,
      subject: shown(subject),
      detail: detail ? shown(detail) : null,
    };
  }

  const endOf = (outcome: AuditEnd['outcome'], result?: string): AuditEnd => ({
    ended_at: now().toISOString(),
    outcome,
    result: result ? shown(result) : null,
  });

  return {
    async record(caller, change, work, outcomeOf = () => ({ outcome: 'ok' })) {
      const entry = entryOf(caller, change);
      await store.begin(entry);
      // The change cannot be undone: without an end, the entry still shows that it was started.
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
        // Not the message, because it may quote a URL with a secret.
        await end(endOf('failed', error instanceof HubError ? error.code : 'internal_error'));
        throw error;
      }
    },

    async recordRefusal(caller, change) {
      const key = JSON.stringify([caller.kind, caller.id ?? caller.name]);
      const count = (refusals.get(key) ?? 0) + 1;
      refusals.set(key, count);
      if (count > MOST_REFUSALS) return;
      const entry = entryOf(caller, count === MOST_REFUSALS ? { ...change, detail: LAST_REFUSAL } : change);
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

function shortText(text: string): string {
  const storable = storableText(text);
  return storable.length > LONGEST_TEXT ? `${storable.slice(0, LONGEST_TEXT - 2)} …` : storable;
}
