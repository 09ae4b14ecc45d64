// Migrations of registration with the gateway.
import { sql } from 'kysely';
import type { Dialect } from '../dialects/dialect.ts';

/** 0003: adds registration: the name in the gateway, the last attempt, the number of attempts, and the time of the next one. */
export const gateway = ({ byteOrderedText: key }: Dialect) => [
  // One statement per column, because SQLite adds one column at a time.
  sql`alter table entity add column gateway_name text`,
  sql`alter table entity add column gateway_tried_at ${key}`,
  sql`alter table entity add column gateway_next_try_at ${key}`,
  sql`alter table entity add column gateway_tries integer not null default 0`,
  sql`alter table entity add column gateway_digest text`,
  sql`alter table entity add column gateway_claimed_until ${key}`,
  sql`create index entity_by_registration on entity (type, gateway_registered_at, created_at, uid)`,
  sql`create index entity_by_gateway_name on entity (gateway_name, type)`,
];

/** 0011: records each item that the hub has in the gateway and the entity it belongs to. */
export const gatewayItems = ({ byteOrderedText: key }: Dialect) => [
  // No foreign key to the entity: the items of a deleted entity must still be removed from the gateway.
  sql`create table gateway_item (
    uid ${key} not null, kind ${key} not null, item_id ${key} not null,
    name text not null, is_ours integer not null, body_digest text,
    constraint gateway_item_key primary key (uid, kind, item_id)
  )`,
  sql`create index gateway_item_holders on gateway_item (kind, item_id)`,
  sql`create index entity_blocked on entity (uid) where blocked_at is not null`,
  sql`drop index entity_by_gateway_name`,
  sql`alter table entity drop column gateway_name`,
  // These were registered before items were recorded: the next sync looks them up in the gateway.
  sql`update entity set gateway_digest = null where gateway_registered_at is not null`,
];

/** 0012: records the current gateway, and the items that the hub has in gateways it used before. */
export const formerGateways = ({ byteOrderedText: key }: Dialect) => [
  sql`create table gateway_state (id integer primary key, url text)`,
  sql`insert into gateway_state (id) values (1)`,
  sql`create table former_gateway_item (
    gateway ${key} not null, uid ${key} not null, kind ${key} not null, item_id ${key} not null,
    name text not null, is_ours integer not null, body_digest text,
    constraint former_gateway_item_key primary key (gateway, uid, kind, item_id)
  )`,
];

/** 0014: adds the time of creation requests that the gateway never confirmed. Drops claims: only one sync runs on a database at a time. */
export const lateCreations = () => [
  ...['gateway_item', 'former_gateway_item'].flatMap((table) => [
    sql`alter table ${sql.table(table)} add column asked_at text`,
    // Until now, an id that is an address marked such a request. Its time is unknown.
    sql`update ${sql.table(table)} set asked_at = '1970-01-01T00:00:00.000Z' where item_id like '%://%'`,
  ]),
  sql`alter table entity drop column gateway_claimed_until`,
];

/** 0029: adds the number of registrations of each day, which does not change when servers leave the gateway. */
export const registrationDays = () => [
  sql`create table registration_day (day text primary key, registered integer not null)`,
  sql`
    insert into registration_day (day, registered)
    select substr(gateway_registered_at, 1, 10), count(*) from entity
    where gateway_registered_at is not null
    group by 1
  `,
];

/** 0030: agents are no longer registered, and items in former gateways no longer recorded. */
export const onlyServers = () => [
  sql`delete from gateway_item where kind = 'a2a'`,
  sql`update entity set gateway_registered_at = null, gateway_error = null, gateway_digest = null where type = 'agent'`,
  sql`drop table former_gateway_item`,
];
