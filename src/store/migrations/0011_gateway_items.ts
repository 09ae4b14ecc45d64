// Records each item that the hub has in the gateway and the entity it belongs to.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

export function gatewayItems({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      // No foreign key to the entity: the items of a deleted entity must still be removed from the gateway.
      await db.schema
        .createTable('gateway_item')
        .addColumn('uid', byteOrderedText, (column) => column.notNull())
        .addColumn('kind', byteOrderedText, (column) => column.notNull())
        .addColumn('item_id', byteOrderedText, (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('is_ours', 'integer', (column) => column.notNull())
        .addColumn('body_digest', 'text')
        .addPrimaryKeyConstraint('gateway_item_key', ['uid', 'kind', 'item_id'])
        .execute();
      await db.schema.createIndex('gateway_item_holders').on('gateway_item').columns(['kind', 'item_id']).execute();
      await sql`create index entity_blocked on entity (uid) where blocked_at is not null`.execute(db);
      await db.schema.dropIndex('entity_by_gateway_name').execute();
      await db.schema.alterTable('entity').dropColumn('gateway_name').execute();
      // These were registered before items were recorded: the next sync looks them up in the gateway.
      await sql`update entity set gateway_digest = null where gateway_registered_at is not null`.execute(db);
    },
  };
}
