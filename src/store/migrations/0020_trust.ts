// What checks found out about the origin of an entity's content.
import type { Migration } from 'kysely/migration';

export const trust: Migration = {
  async up(db) {
    await db.schema.alterTable('entity').addColumn('trust', 'text').execute();
  },
};
