// Records the current gateway, and the items that the hub has in gateways it used before.
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

export function formerGateways({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      await db.schema
        .createTable('gateway_state')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('url', 'text')
        .execute();
      await db.withTables<{ gateway_state: { id: number } }>().insertInto('gateway_state').values({ id: 1 }).execute();
      await db.schema
        .createTable('former_gateway_item')
        .addColumn('gateway', byteOrderedText, (column) => column.notNull())
        .addColumn('uid', byteOrderedText, (column) => column.notNull())
        .addColumn('kind', byteOrderedText, (column) => column.notNull())
        .addColumn('item_id', byteOrderedText, (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('is_ours', 'integer', (column) => column.notNull())
        .addColumn('body_digest', 'text')
        .addPrimaryKeyConstraint('former_gateway_item_key', ['gateway', 'uid', 'kind', 'item_id'])
        .execute();
    },
  };
}
