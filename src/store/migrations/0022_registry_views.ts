// Adds registry views, and marks the entries that the policy allows.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

export function registryViews({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      await db.schema
        .createTable('registry_view')
        .addColumn('name', byteOrderedText, (column) => column.primaryKey())
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('filter', 'text', (column) => column.notNull())
        .execute();
      for (const flag of ['is_approved', 'is_latest_approved']) {
        await db.schema
          .alterTable('registry_server')
          .addColumn(flag, 'integer', (column) => column.notNull().defaultTo(0))
          .execute();
      }
      // Forces a rewrite of the entries, which lack the new columns.
      await sql`update registry_server set digest = ''`.execute(db);
      await sql`update registry_state set revision = null`.execute(db);
    },
  };
}
