// Migrations of tokens, the audit log, the policy, approvals and trust signals.
import { sql } from 'kysely';
import type { Dialect } from '../dialects/dialect.ts';

/** 0017: adds tokens and the audit log. */
export const access = ({ byteOrderedText: key }: Dialect) => [
  sql`create table access_token (
    name ${key} primary key, digest ${key} not null unique, role text not null, scope text not null,
    created_at text not null, created_by text not null, expires_at text
  )`,
  sql`create table audit_entry (
    id ${key} primary key, at ${key} not null, caller text not null, role text not null, via text not null, address text,
    operation text not null, subject text not null, outcome text not null, detail text
  )`,
];

/** 0018: adds the facts that policy rules use, the rules' results, and approvals. */
export const policy = ({ byteOrderedText: key }: Dialect) => [
  sql`alter table entity add column facts text`,
  sql`alter table entity add column brings ${key}`,
  ...['is_hidden', 'is_held', 'needs_approval'].map(
    (flag) => sql`alter table entity add column ${sql.ref(flag)} integer not null default 0`,
  ),
  sql`create index entity_to_approve on entity (uid) where needs_approval = 1`,
  sql`drop index entity_versions`,
  sql`create index entity_versions on entity (type, name, version_key, uid, version, status, blocked_at, is_hidden)`,
  sql`alter table remote add column register text not null default 'all'`,
  sql`create table policy (
    id integer primary key, text text, digest text, changed_at text, changed_by text,
    version integer not null, applied_version integer not null
  )`,
  sql`insert into policy (id, version, applied_version) values (1, 0, 0)`,
  sql`create table approval (
    uid ${key} not null, brings ${key} not null, type ${key} not null, slug ${key} not null, remote_url ${key},
    decision text not null, reason text, decided_by text not null, decided_at text not null, reviewed text not null,
    constraint approval_pk primary key (uid, brings)
  )`,
  sql`create index approval_by_name on approval (slug, type)`,
];

/** 0020: adds the results of signature checks. */
export const trust = () => [sql`alter table entity add column trust text`];

/** 0023: records the start and the end of each audited change separately; adds indexes for the log's filters. */
export const auditEnds = ({ byteOrderedText: key }: Dialect) => [
  sql`create table audit_end (id ${key} primary key, ended_at text not null, outcome text not null, result text)`,
  sql`insert into audit_end (id, ended_at, outcome, result) select id, at, outcome, detail from audit_entry`,
  sql`alter table audit_entry drop column outcome`,
  sql`alter table audit_entry drop column detail`,
  sql`alter table audit_entry add column detail text`,
  sql`alter table audit_entry add column caller_kind text not null default 'token'`,
  sql`alter table audit_entry add column caller_id text`,
  sql`alter table audit_entry add column folded_subject text`,
  sql`update audit_entry set folded_subject = lower(subject)`,
  sql`create index audit_by_caller on audit_entry (caller, id)`,
  sql`create index audit_by_operation on audit_entry (operation, id)`,
  sql`create index audit_by_outcome on audit_end (outcome, id)`,
];

/** 0024: adds the time of the next signature check of an entity whose registry did not respond. */
export const trustRetries = () => [sql`alter table entity add column trust_due_at text`];

/** 0028: makes the database refuse updates of audit log entries; they are only added. */
export const auditUnchanged = ({ refuseUpdates }: Dialect) =>
  (['audit_entry', 'audit_end'] as const).flatMap((table) => refuseUpdates(table));
