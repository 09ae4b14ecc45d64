// Migrations of registration with the gateway.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

/** 0003: adds registration: the name in the gateway, the last attempt, the number of attempts, and the time of the next one. */
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

/** 0011: records each item that the hub has in the gateway and the entity it belongs to. */
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

/** 0012: records the current gateway, and the items that the hub has in gateways it used before. */
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

/** 0014: adds the time of creation requests that the gateway never confirmed. Drops claims: only one sync runs on a database at a time. */
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

/** 0029: adds the number of registrations of each day, which does not change when servers leave the gateway. */
export const registrationDays: Migration = {
  async up(db) {
    await db.schema
      .createTable('registration_day')
      .addColumn('day', 'text', (column) => column.primaryKey())
      .addColumn('registered', 'integer', (column) => column.notNull())
      .execute();
    await sql`
      insert into registration_day (day, registered)
      select substr(gateway_registered_at, 1, 10), count(*) from entity
      where gateway_registered_at is not null
      group by 1
    `.execute(db);
  },
};
