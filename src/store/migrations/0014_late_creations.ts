// When the gateway was asked for something that it never confirmed. Claims go: only one sync runs on a database at a time.
import type { Migration } from 'kysely/migration';

export const lateCreations: Migration = {
  async up(db) {
    for (const table of ['gateway_item', 'former_gateway_item'])
      await db.schema.alterTable(table).addColumn('asked_at', 'text').execute();
    await db.schema.alterTable('entity').dropColumn('gateway_claimed_until').execute();
  },
};
