// Migrations of tokens, the audit log, the policy, approvals and trust signals.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

/** 0017: adds tokens and the audit log. */
export function access({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      await db.schema
        .createTable('access_token')
        .addColumn('name', byteOrderedText, (column) => column.primaryKey())
        .addColumn('digest', byteOrderedText, (column) => column.notNull().unique())
        .addColumn('role', 'text', (column) => column.notNull())
        .addColumn('scope', 'text', (column) => column.notNull())
        .addColumn('created_at', 'text', (column) => column.notNull())
        .addColumn('created_by', 'text', (column) => column.notNull())
        .addColumn('expires_at', 'text')
        .execute();
      await db.schema
        .createTable('audit_entry')
        .addColumn('id', byteOrderedText, (column) => column.primaryKey())
        .addColumn('at', byteOrderedText, (column) => column.notNull())
        .addColumn('caller', 'text', (column) => column.notNull())
        .addColumn('role', 'text', (column) => column.notNull())
        .addColumn('via', 'text', (column) => column.notNull())
        .addColumn('address', 'text')
        .addColumn('operation', 'text', (column) => column.notNull())
        .addColumn('subject', 'text', (column) => column.notNull())
        .addColumn('outcome', 'text', (column) => column.notNull())
        .addColumn('detail', 'text')
        .execute();
    },
  };
}

/** 0018: adds the facts that policy rules use, the rules' results, and approvals. */
export function policy({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      await db.schema.alterTable('entity').addColumn('facts', 'text').execute();
      await db.schema.alterTable('entity').addColumn('brings', byteOrderedText).execute();
      for (const flag of ['is_hidden', 'is_held', 'needs_approval']) {
        await db.schema
          .alterTable('entity')
          .addColumn(flag, 'integer', (column) => column.notNull().defaultTo(0))
          .execute();
      }
      await sql`create index entity_to_approve on entity (uid) where needs_approval = 1`.execute(db);
      await db.schema.dropIndex('entity_versions').execute();
      await db.schema
        .createIndex('entity_versions')
        .on('entity')
        .columns(['type', 'name', 'version_key', 'uid', 'version', 'status', 'blocked_at', 'is_hidden'])
        .execute();

      await db.schema
        .alterTable('remote')
        .addColumn('register', 'text', (column) => column.notNull().defaultTo('all'))
        .execute();

      await db.schema
        .createTable('policy')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('text', 'text')
        .addColumn('digest', 'text')
        .addColumn('changed_at', 'text')
        .addColumn('changed_by', 'text')
        .addColumn('version', 'integer', (column) => column.notNull())
        .addColumn('applied_version', 'integer', (column) => column.notNull())
        .execute();
      await sql`insert into policy (id, version, applied_version) values (1, 0, 0)`.execute(db);

      await db.schema
        .createTable('approval')
        .addColumn('uid', byteOrderedText, (column) => column.notNull())
        .addColumn('brings', byteOrderedText, (column) => column.notNull())
        .addColumn('type', byteOrderedText, (column) => column.notNull())
        .addColumn('slug', byteOrderedText, (column) => column.notNull())
        .addColumn('remote_url', byteOrderedText)
        .addColumn('decision', 'text', (column) => column.notNull())
        .addColumn('reason', 'text')
        .addColumn('decided_by', 'text', (column) => column.notNull())
        .addColumn('decided_at', 'text', (column) => column.notNull())
        .addColumn('reviewed', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('approval_pk', ['uid', 'brings'])
        .execute();
      await db.schema.createIndex('approval_by_name').on('approval').columns(['slug', 'type']).execute();
    },
  };
}

/** 0020: adds the results of signature checks. */
export const trust: Migration = {
  async up(db) {
    await db.schema.alterTable('entity').addColumn('trust', 'text').execute();
  },
};

/** 0023: records the start and the end of each audited change separately; adds indexes for the log's filters. */
export function auditEnds({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      await db.schema
        .createTable('audit_end')
        .addColumn('id', byteOrderedText, (column) => column.primaryKey())
        .addColumn('ended_at', 'text', (column) => column.notNull())
        .addColumn('outcome', 'text', (column) => column.notNull())
        .addColumn('result', 'text')
        .execute();
      await sql`insert into audit_end (id, ended_at, outcome, result) select id, at, outcome, detail from audit_entry`.execute(
        db,
      );
      const entries = () => db.schema.alterTable('audit_entry');
      await entries().dropColumn('outcome').execute();
      await entries().dropColumn('detail').execute();
      await entries().addColumn('detail', 'text').execute();
      await entries()
        .addColumn('caller_kind', 'text', (column) => column.notNull().defaultTo('token'))
        .execute();
      await entries().addColumn('caller_id', 'text').execute();
      await entries().addColumn('folded_subject', 'text').execute();
      await sql`update audit_entry set folded_subject = lower(subject)`.execute(db);
      const index = (name: string) => db.schema.createIndex(name);
      await index('audit_by_caller').on('audit_entry').columns(['caller', 'id']).execute();
      await index('audit_by_operation').on('audit_entry').columns(['operation', 'id']).execute();
      await index('audit_by_outcome').on('audit_end').columns(['outcome', 'id']).execute();
    },
  };
}

/** 0024: adds the time of the next signature check of an entity whose registry did not respond. */
export const trustRetries: Migration = {
  async up(db) {
    await db.schema.alterTable('entity').addColumn('trust_due_at', 'text').execute();
  },
};

/** 0028: makes the database refuse updates of audit log entries; they are only added, and deleted when they are too old. */
export function auditUnchanged({ refuseUpdates }: Pick<Dialect, 'refuseUpdates'>): Migration {
  return {
    async up(db) {
      for (const table of ['audit_entry', 'audit_end'] as const) await refuseUpdates(db, table);
    },
  };
}
