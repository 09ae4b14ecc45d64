// The audit log on both engines: rows are added, and never changed.
import { sql } from 'kysely';
import type { AuditEntry } from '../access/contract.ts';
import type { AuditStore } from '../access/store.ts';
import type { Dialect } from './dialects/dialect.ts';
import { likePattern } from './like.ts';

export function createAuditStore({ read, write }: Dialect): AuditStore {
  return {
    async append(entry) {
      await write.insertInto('audit_entry').values(entry).execute();
    },

    async list({ limit, before, since, until, subject, ...equal }) {
      let entries = read.selectFrom('audit_entry').selectAll().orderBy('id', 'desc').limit(limit);
      if (before !== undefined) entries = entries.where('id', '<', before);
      if (since !== undefined) entries = entries.where('at', '>=', since);
      if (until !== undefined) entries = entries.where('at', '<', until);
      if (subject !== undefined)
        entries = entries.where(sql<boolean>`subject like ${likePattern(subject)} escape '\\'`);
      for (const column of ['caller', 'operation', 'outcome'] as const) {
        const value = equal[column];
        if (value !== undefined) entries = entries.where(column, '=', value);
      }
      return (await entries.execute()) as AuditEntry[];
    },
  };
}
