// Migrations of remotes, and of the owners of entities.
import { sql } from 'kysely';
import type { Dialect } from '../dialects/dialect.ts';

/** 0002: adds remotes: the ingested indexes, the manifests each one lists, refused manifests, and the ingest history. */
export const remotes = ({ byteOrderedText: key }: Dialect) => [
  sql`alter table entity add column missing_since ${key}`,
  sql`create table remote (
    url ${key} primary key, created_at ${key} not null, last_sync_at ${key}, last_error text,
    etag text, last_modified text, changes_since text, gone_through_at text
  )`,
  // No foreign key to `remote`: an index may be ingested without being a stored remote.
  sql`create table remote_member (
    remote_url ${key} not null, manifest_url ${key} not null,
    uid ${key} not null references entity (uid) on delete cascade,
    etag text, last_modified text, digest text not null, missing_since ${key},
    constraint remote_member_key primary key (remote_url, manifest_url)
  )`,
  sql`create index remote_member_by_uid on remote_member (uid, remote_url)`,
  sql`create table remote_rejection (
    remote_url ${key} not null, manifest_url ${key} not null, error text not null, rejected_at ${key} not null,
    constraint remote_rejection_key primary key (remote_url, manifest_url)
  )`,
  sql`create table ingest_run (
    remote_url ${key} not null, started_at ${key} not null, run text not null,
    constraint ingest_run_key primary key (remote_url, started_at)
  )`,
  sql`create index ingest_run_by_start on ingest_run (started_at, remote_url)`,
];

/** 0008: records which of several manifests an entity was built from, and which entities must be rebuilt. */
export const fronts = ({ byteOrderedText: key }: Dialect) => [
  // Separate from `remote_member`: one remote writes work for another here, and must not wait for locks on the other's rows.
  sql`create table remote_front (
    remote_url ${key} not null, uid ${key} not null, manifest_url ${key},
    constraint remote_front_key primary key (remote_url, uid)
  )`,
];

/** 0009: adds `remote.generation`, which tells a running ingest that the index must be read again. */
export const generation = () => [sql`alter table remote add column generation text not null default ''`];

/** 0010: adds the owner of an entity, and operators' decisions about entities and remotes. */
export const ownership = ({ byteOrderedText: key }: Dialect) => [
  sql`alter table entity add column owner_url ${key}`,
  sql`alter table entity add column made_of ${key}`,
  sql`alter table entity add column changed_at ${key}`,
  sql`alter table entity add column blocked_at ${key}`,
  sql`alter table entity add column blocked_reason text`,
  sql`alter table entity add column is_prerelease integer not null default 0`,
  sql`alter table entity add column is_registrable integer not null default 1`,
  sql`
    update entity set owner_url = (
      select remote_url from remote_member as member
      where member.uid = entity.uid and member.missing_since is null
      order by case when member.manifest_url = entity.source_url then 0 else 1 end, remote_url
      limit 1
    )
  `,
  // If several manifests of the owner describe an entity, the next ingest determines which one counts.
  sql`
    update entity set made_of = (
      select max(manifest_url) from remote_member as member
      where member.uid = entity.uid and member.remote_url = entity.owner_url and member.missing_since is null
      having count(*) = 1
    )
    where not exists (
      select 1 from remote_front as front
      where front.uid = entity.uid and front.remote_url = entity.owner_url and front.manifest_url is null
    )
  `,
  sql`create index entity_to_remake on entity (owner_url) where made_of is null and owner_url is not null`,
  sql`drop table remote_front`,
  sql`drop index entity_versions`,
  sql`create index entity_versions on entity (type, name, version_key, uid, version, status, blocked_at)`,
  sql`alter table remote add column name ${key}`,
  sql`alter table remote add column priority integer not null default 0`,
  sql`alter table remote add column is_enabled integer not null default 1`,
  sql`alter table remote add column is_self_contained integer not null default 0`,
  sql`create unique index remote_by_name on remote (name)`,
];

/** 0013: adds the note of a remote's last run, which is shown with the remote. */
export const remoteNotes = () => [
  sql`alter table remote add column last_note text`,
  sql`alter table remote add column is_shrunk integer not null default 0`,
];
