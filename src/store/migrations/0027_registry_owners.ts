// Each entry of the registry has one owner, and holds only what clients can read: all entries are made again.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const registryOwners: Migration = {
  async up(db) {
    await sql`update registry_state set revision = null`.execute(db);
  },
};
