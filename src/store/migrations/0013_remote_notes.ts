// Adds the note of a remote's last run, which is shown with the remote.
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
