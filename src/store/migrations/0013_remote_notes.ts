// What the last run of a remote noted, so that it is shown beside the remote.
import type { Migration } from 'kysely/migration';

export const remoteNotes: Migration = {
  async up(db) {
    await db.schema.alterTable('remote').addColumn('last_note', 'text').execute();
    await db.schema
      .alterTable('remote')
      .addColumn('is_shrunk', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
