// Makes the database refuse updates of audit log entries; they are only added, and deleted when they are too old.
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

export function auditUnchanged({ refuseUpdates }: Pick<Dialect, 'refuseUpdates'>): Migration {
  return {
    async up(db) {
      for (const table of ['audit_entry', 'audit_end'] as const) await refuseUpdates(db, table);
    },
  };
}
