// When an entity is checked again because its registry could not answer.
import type { Migration } from 'kysely/migration';

export const trustRetries: Migration = {
  async up(db) {
    await db.schema.alterTable('entity').addColumn('trust_due_at', 'text').execute();
  },
};
