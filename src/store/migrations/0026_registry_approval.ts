// Removes entries that must not be installed from the `approved` view, and records that they were in it.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export function registryApproval(): Migration {
  return {
    async up(db) {
      for (const [table, flag] of [
        ['entity', 'is_install_refused'],
        ['registry_server', 'was_approved'],
      ] as const) {
        await db.schema
          .alterTable(table)
          .addColumn(flag, 'integer', (column) => column.notNull().defaultTo(0))
          .execute();
      }
      await sql`update registry_server set was_approved = 1 where is_approved = 1 or status = 'deleted'`.execute(db);
      await db.schema.createIndex('registry_server_key').on('registry_server').column('name_key').execute();
      // Re-applies the rules, which fills the new column of entities.
      await sql`update policy set version = version + 1 where digest is not null`.execute(db);
    },
  };
}
