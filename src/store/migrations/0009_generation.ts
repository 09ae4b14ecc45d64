// By which a run can tell that the index it has gone through is to be gone through again.
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
