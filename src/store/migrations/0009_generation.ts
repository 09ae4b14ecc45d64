// Adds `remote.generation`, so that a running ingest notices that its index must be read again.
import type { Migration } from 'kysely/migration';

export function generation(): Migration {
  return {
    async up(db) {
      await db.schema
        .alterTable('remote')
        .addColumn('generation', 'text', (column) => column.notNull().defaultTo(''))
        .execute();
    },
  };
}
