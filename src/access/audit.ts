// The audit log: who changed what, when, from where, with which outcome.
import { randomBytes } from 'node:crypto';
import { storableText } from '../lib/json.ts';
import type { Clock, Logger } from '../lib/world.ts';
import type { AuditEntry, AuditPage, AuditQuery, Caller } from './contract.ts';
import type { AuditStore } from './store.ts';

type AuditRecord = Pick<AuditEntry, 'operation' | 'subject' | 'outcome' | 'detail'>;

export interface Audit {
  /** Does not fail: what was done is done, and the log of the hub has what could not be recorded. */
  record(caller: Caller, record: AuditRecord): Promise<void>;
  list(query: AuditQuery): Promise<AuditPage>;
}

const LONGEST_TEXT = 1_000;

export function createAudit(store: AuditStore, { now, log }: { now: Clock; log: Logger }): Audit {
  const hubMark = randomBytes(4).toString('hex');
  let recorded = 0;
  /** Sorts by time, then in the order of this hub. Other hubs on the same database have ids of their own. */
  const nextId = (at: string) => {
    recorded += 1;
    return `${at}-${String(recorded).padStart(8, '0')}-${hubMark}`;
  };

  return {
    async record({ name, role, via, address }, { subject, detail, ...record }) {
      const at = now().toISOString();
      const entry: AuditEntry = {
        id: nextId(at),
        at,
        caller: storableText(name).slice(0, LONGEST_TEXT),
        role,
        via,
        address: address?.slice(0, LONGEST_TEXT) ?? null,
        subject: storableText(subject).slice(0, LONGEST_TEXT),
        detail: detail && storableText(detail).slice(0, LONGEST_TEXT),
        ...record,
      };
      await store
        .append(entry)
        .catch((error) => log.error({ error, entry }, 'A change could not be written to the audit log'));
    },

    async list(query) {
      const entries = await store.list({ ...query, limit: query.limit + 1 });
      const items = entries.slice(0, query.limit);
      return { items, next: entries.length > query.limit ? (items.at(-1)?.id ?? null) : null };
    },
  };
}
