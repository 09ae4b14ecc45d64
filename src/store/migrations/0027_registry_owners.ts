// Gives each registry entry one owner, and only content that clients can read: all entries are rebuilt.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const registryOwners: Migration = {
  async up(db) {
    await sql`update registry_state set revision = null`.execute(db);
  },
};
