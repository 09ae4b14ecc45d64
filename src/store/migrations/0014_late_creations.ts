// Adds the time of creation requests that the gateway never confirmed. Drops claims: only one sync runs on a database at a time.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const lateCreations: Migration = {
  async up(db) {
    for (const table of ['gateway_item', 'former_gateway_item']) {
      await db.schema.alterTable(table).addColumn('asked_at', 'text').execute();
      // Until now, an id that is an address marked such a request. Its time is unknown.
      await sql`update ${sql.table(table)} set asked_at = '1970-01-01T00:00:00.000Z' where item_id like '%://%'`.execute(
        db,
      );
    }
    await db.schema.alterTable('entity').dropColumn('gateway_claimed_until').execute();
  },
};
