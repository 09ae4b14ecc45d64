// Migrations of webhooks and their events.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

/** 0019: adds webhooks, their pending events, and the delivery log. */
export function events({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      await db.schema
        .alterTable('catalog_state')
        .addColumn('event_position', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
      await db.schema
        .createTable('event')
        .addColumn('position', 'integer', (column) => column.primaryKey())
        .addColumn('type', byteOrderedText, (column) => column.notNull())
        .addColumn('at', byteOrderedText, (column) => column.notNull())
        .addColumn('data', 'text', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('webhook')
        .addColumn('name', byteOrderedText, (column) => column.primaryKey())
        .addColumn('url', 'text', (column) => column.notNull())
        .addColumn('secret', 'text', (column) => column.notNull())
        .addColumn('events', 'text', (column) => column.notNull())
        .addColumn('created_at', 'text', (column) => column.notNull())
        .addColumn('created_by', 'text', (column) => column.notNull())
        .addColumn('position', 'integer', (column) => column.notNull())
        .addColumn('disabled_at', 'text')
        .addColumn('disabled_reason', 'text')
        .addColumn('leased_by', 'text')
        .addColumn('leased_until', byteOrderedText)
        .execute();
      await db.schema
        .createTable('webhook_delivery')
        .addColumn('id', byteOrderedText, (column) => column.primaryKey())
        .addColumn('webhook', byteOrderedText, (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('after_position', 'integer', (column) => column.notNull())
        .addColumn('last_position', 'integer', (column) => column.notNull())
        .addColumn('event_count', 'integer', (column) => column.notNull())
        .addColumn('event_types', 'text', (column) => column.notNull())
        .addColumn('attempts', 'integer', (column) => column.notNull())
        .addColumn('created_at', byteOrderedText, (column) => column.notNull())
        .addColumn('tried_at', 'text')
        .addColumn('next_try_at', byteOrderedText)
        .addColumn('status', 'integer')
        .addColumn('error', 'text')
        .addColumn('answer', 'text')
        .addColumn('duration_ms', 'integer')
        .execute();
      await db.schema.createIndex('webhook_delivery_log').on('webhook_delivery').columns(['webhook', 'id']).execute();
      // At most one, even when two hubs deliver at the same time.
      await sql`create unique index webhook_delivery_open on webhook_delivery (webhook) where state = 'pending'`.execute(
        db,
      );
    },
  };
}
