// Gives the hub an id, so that it recognizes its own entries when another hub lists them.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export function hubId(): Migration {
  return {
    async up(db) {
      await db.schema.alterTable('registry_state').addColumn('hub_id', 'text').execute();
      await sql`update registry_state set hub_id = ${randomUUID()}`.execute(db);
    },
  };
}
