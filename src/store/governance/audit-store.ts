// The audit log, on both engines: rows are only added.
import { sql } from 'kysely';
import type { AuditEntry } from '../../access/contract.ts';
import type { AuditStore } from '../../access/store.ts';
import { foldText } from '../catalog/entity-row.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { likePattern } from '../like.ts';

export function createAuditStore({ read, write }: Dialect): AuditStore {
  return {
    async begin(entry, end) {
      await write.transaction().execute(async (tx) => {
        await tx
          .insertInto('audit_entry')
          .values({ ...entry, folded_subject: foldText(entry.subject) })
          .execute();
        if (end)
          await tx
            .insertInto('audit_end')
            .values({ id: entry.id, ...end })
            .execute();
      });
    },

    async end(id, end) {
      await write
        .insertInto('audit_end')
        .values({ id, ...end })
        .execute();
    },

    async list({ limit, before, since, until, subject, caller, operation, outcome }) {
      let entries = read
        .selectFrom('audit_entry')
        .leftJoin('audit_end', 'audit_end.id', 'audit_entry.id')
        .select(['audit_entry.id', 'at', 'caller', 'caller_kind', 'caller_id', 'role', 'via', 'address'])
        .select(['operation', 'subject', 'detail', 'result', 'ended_at'])
        .select(sql<string>`coalesce(outcome, 'started')`.as('outcome'))
        .orderBy('audit_entry.id', 'desc')
        .limit(limit);
      // Ids start with the time.
      if (since !== undefined) entries = entries.where('audit_entry.id', '>=', since);
      for (const end of [before, until]) if (end !== undefined) entries = entries.where('audit_entry.id', '<', end);
      if (subject !== undefined)
        entries = entries.where(sql<boolean>`folded_subject like ${likePattern(foldText(subject))} escape '\\'`);
      if (caller !== undefined) entries = entries.where('caller', '=', caller);
      if (operation !== undefined) entries = entries.where('operation', '=', operation);
      if (outcome === 'started') entries = entries.where('outcome', 'is', null);
      else if (outcome !== undefined) entries = entries.where('outcome', '=', outcome);
      return (await entries.execute()) as AuditEntry[];
    },
  };
}
