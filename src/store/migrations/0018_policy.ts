// Adds the facts that policy rules use, the rules' results, and approvals.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

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
