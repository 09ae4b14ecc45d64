// Adds a random stamp to each revision, so that a saved index can be matched with the history of this catalog.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const revisionStamps: Migration = {
  async up(db) {
    await db.schema.alterTable('catalog_change').addColumn('stamp', 'text').execute();
    await sql`update catalog_change set stamp = ${randomUUID()} where uid = ''`.execute(db);
  },
};
