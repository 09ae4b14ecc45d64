// Adds `remote.generation`, which tells a running ingest that the index must be read again.
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
