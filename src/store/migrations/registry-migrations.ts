// Migrations of the entries and views of the MCP registry.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Dialect } from '../dialects/dialect.ts';

/** 0021: adds the entries of the MCP registry: one row per name and version, and a table with the finished documents. */
export const registry = ({ byteOrderedText: key }: Dialect) => [
  sql`create table registry_state (id integer primary key, revision integer, changed_at text)`,
  sql`insert into registry_state (id) values (1)`,
  sql`create table registry_member (uid ${key} primary key, name ${key} not null, version ${key} not null)`,
  sql`create index registry_member_of on registry_member (name, version, uid)`,
  sql`create table registry_server (
    name ${key} not null, version ${key} not null, name_key ${key} not null,
    status text not null, status_message text, status_changed_at text not null,
    published_at text not null, updated_at ${key} not null, is_latest integer not null, digest text not null,
    constraint registry_server_pk primary key (name, version)
  )`,
  sql`create index registry_server_latest on registry_server (name, version) where is_latest = 1`,
  sql`create table registry_document (
    name ${key} not null, version ${key} not null, server text not null, about text not null,
    constraint registry_document_pk primary key (name, version)
  )`,
];

/** 0022: adds registry views, and marks the entries that the policy allows. */
export const registryViews = ({ byteOrderedText: key }: Dialect) => [
  sql`create table registry_view (name ${key} primary key, description text not null, filter text not null)`,
  sql`alter table registry_server add column is_approved integer not null default 0`,
  sql`alter table registry_server add column is_latest_approved integer not null default 0`,
  // Forces a rewrite of the entries, which lack the new columns.
  sql`update registry_server set digest = ''`,
  sql`update registry_state set revision = null`,
];

/** 0025: gives the hub an id, so that it recognizes its own entries when another hub lists them. */
export const hubId = () => [
  sql`alter table registry_state add column hub_id text`,
  sql`update registry_state set hub_id = ${randomUUID()}`,
];

/** 0026: removes entries that must not be installed from the `approved` view, and records that they were in it. */
export const registryApproval = () => [
  sql`alter table entity add column is_install_refused integer not null default 0`,
  sql`alter table registry_server add column was_approved integer not null default 0`,
  sql`update registry_server set was_approved = 1 where is_approved = 1 or status = 'deleted'`,
  sql`create index registry_server_key on registry_server (name_key)`,
  // Re-applies the rules, which fills the new column of entities.
  sql`update policy set version = version + 1 where digest is not null`,
];

/** 0027: gives each registry entry one owner, and only content that clients can read: all entries are rebuilt. */
export const registryOwners = () => [sql`update registry_state set revision = null`];
