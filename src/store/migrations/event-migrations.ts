// Migrations of webhooks and their events.
import { sql } from 'kysely';
import type { Dialect } from '../dialects/dialect.ts';

/** 0019: adds webhooks, their pending events, and the delivery log. */
export const events = ({ byteOrderedText: key }: Dialect) => [
  sql`alter table catalog_state add column event_position integer not null default 0`,
  sql`create table event (position integer primary key, type ${key} not null, at ${key} not null, data text not null)`,
  sql`create table webhook (
    name ${key} primary key, url text not null, secret text not null, events text not null,
    created_at text not null, created_by text not null, position integer not null,
    disabled_at text, disabled_reason text, leased_by text, leased_until ${key}
  )`,
  sql`create table webhook_delivery (
    id ${key} primary key, webhook ${key} not null, state text not null,
    after_position integer not null, last_position integer not null,
    event_count integer not null, event_types text not null, attempts integer not null,
    created_at ${key} not null, tried_at text, next_try_at ${key},
    status integer, error text, answer text, duration_ms integer
  )`,
  sql`create index webhook_delivery_log on webhook_delivery (webhook, id)`,
  // At most one, even when two hubs deliver at the same time.
  sql`create unique index webhook_delivery_open on webhook_delivery (webhook) where state = 'pending'`,
];
