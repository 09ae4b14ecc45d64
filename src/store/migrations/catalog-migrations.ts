// Migrations of entities, their manifests and vectors, and of the record of changes.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Dialect } from '../dialects/dialect.ts';

/** 0001: creates the catalog: entities, their filter values, and the revision that increases with every write. */
export const initial = ({ byteOrderedText: key }: Dialect) => [
  sql`create table entity (
    uid ${key} primary key, type text not null, slug ${key} not null,
    version text not null, version_key ${key} not null,
    name ${key} not null, title text, summary text not null, haystack text not null,
    status text not null, quality double precision not null, published_at ${key},
    source_url text, manifest text not null, manifest_digest text not null,
    facets text not null, mcp_registration text, mapping integer not null,
    created_at ${key} not null, updated_at ${key} not null,
    gateway_registered_at ${key}, gateway_error text
  )`,
  // Each serves one query: the newest version of a slug, the versions of a name, and the four sort orders of the list.
  sql`create index entity_by_slug on entity (type, slug, version_key)`,
  sql`create index entity_by_type_name on entity (type, name, version_key)`,
  sql`create index entity_by_name on entity (name, uid)`,
  sql`create index entity_by_updated_at on entity (updated_at, uid)`,
  sql`create index entity_by_created_at on entity (created_at, uid)`,
  sql`create index entity_by_quality on entity (quality, uid)`,
  sql`create table entity_facet (
    uid ${key} not null references entity (uid) on delete cascade, facet text not null, value ${key} not null,
    constraint entity_facet_key primary key (uid, facet, value)
  )`,
  sql`create index entity_facet_by_value on entity_facet (facet, value, uid)`,
  sql`create table catalog_state (id integer primary key check (id = 1), revision integer not null)`,
  sql`insert into catalog_state (id, revision) values (1, 0)`,
];

/** 0004: adds an index that finds all versions of a name without reading the table. */
export const versions = () => [
  sql`create index entity_versions on entity (type, name, version_key, uid, version, status)`,
  sql`drop index entity_by_type_name`,
];

/** 0005: adds vectors for semantic search, keyed by model and digest of the text. */
export const search = ({ byteOrderedText: key }: Dialect) => [
  // Bytes on both engines: SQLite stores them unchanged in a column of any type.
  sql`create table text_vector (
    model ${key} not null, digest ${key} not null, value bytea not null,
    constraint text_vector_key primary key (model, digest)
  )`,
];

/** 0006: records which entities each revision changed, so that in-memory data can follow without a full read. */
export const changes = ({ byteOrderedText: key }: Dialect) => [
  // No foreign key to `entity`: a deletion is a change too.
  sql`create table catalog_change (
    revision integer not null, uid ${key} not null,
    constraint catalog_change_key primary key (revision, uid)
  )`,
];

/** 0007: drops the facet rows: filters run in memory, and unused rows made every save slower. */
export const noFacetRows = () => [sql`drop table entity_facet`];

/** 0015: adds a random stamp to each revision, so that a saved index can be matched with the history of this catalog. */
export const revisionStamps = () => [
  sql`alter table catalog_change add column stamp text`,
  sql`update catalog_change set stamp = ${randomUUID()} where uid = ''`,
];

/** 0016: moves manifests out of the entity rows that lists and searches read; these rows become a third as wide. */
export const manifests = ({ byteOrderedText: key }: Dialect) => [
  sql`create table manifest (uid ${key} primary key references entity (uid) on delete cascade, text text not null)`,
  sql`insert into manifest (uid, text) select uid, manifest from entity order by uid`,
  sql`alter table entity drop column manifest`,
];

/** 0031: lists of versions also show which ones no remote lists. The uid contains the version. */
export const missingVersions = () => [
  sql`drop index entity_versions`,
  sql`create index entity_versions on entity (type, name, version_key, uid, status, blocked_at, is_hidden, missing_since)`,
];

/** 0032: keeps the reason that a registry gave when it took a server down. */
export const missingReasons = () => [sql`alter table entity add column missing_reason text`];
