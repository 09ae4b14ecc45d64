// Adds the results of signature checks.
import type { Migration } from 'kysely/migration';

export const trust: Migration = {
  async up(db) {
    await db.schema.alterTable('entity').addColumn('trust', 'text').execute();
  },
};
