// Adds registration: the name in the gateway, the last attempt, the number of attempts, and the time of the next one.
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

export function gateway({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      // One statement per column, because SQLite adds one column at a time.
      await db.schema.alterTable('entity').addColumn('gateway_name', 'text').execute();
      await db.schema.alterTable('entity').addColumn('gateway_tried_at', byteOrderedText).execute();
      await db.schema.alterTable('entity').addColumn('gateway_next_try_at', byteOrderedText).execute();
      await db.schema
        .alterTable('entity')
        .addColumn('gateway_tries', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
      await db.schema.alterTable('entity').addColumn('gateway_digest', 'text').execute();
      await db.schema.alterTable('entity').addColumn('gateway_claimed_until', byteOrderedText).execute();
      await db.schema
        .createIndex('entity_by_registration')
        .on('entity')
        .columns(['type', 'gateway_registered_at', 'created_at', 'uid'])
        .execute();
      await db.schema.createIndex('entity_by_gateway_name').on('entity').columns(['gateway_name', 'type']).execute();
    },
  };
}
