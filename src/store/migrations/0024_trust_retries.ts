// Adds the time of the next signature check of an entity whose registry did not respond.
import type { Migration } from 'kysely/migration';

export const trustRetries: Migration = {
  async up(db) {
    await db.schema.alterTable('entity').addColumn('trust_due_at', 'text').execute();
  },
};
