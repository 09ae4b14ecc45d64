// Adds remotes: the ingested indexes, the manifests each one lists, refused manifests, and the ingest history.
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

export function remotes({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      await db.schema.alterTable('entity').addColumn('missing_since', byteOrderedText).execute();

      await db.schema
        .createTable('remote')
        .addColumn('url', byteOrderedText, (column) => column.primaryKey())
        .addColumn('created_at', byteOrderedText, (column) => column.notNull())
        .addColumn('last_sync_at', byteOrderedText)
        .addColumn('last_error', 'text')
        .addColumn('etag', 'text')
        .addColumn('last_modified', 'text')
        .addColumn('changes_since', 'text')
        .addColumn('gone_through_at', 'text')
        .execute();

      // No foreign key to `remote`: an index may be ingested without being a stored remote.
      await db.schema
        .createTable('remote_member')
        .addColumn('remote_url', byteOrderedText, (column) => column.notNull())
        .addColumn('manifest_url', byteOrderedText, (column) => column.notNull())
        .addColumn('uid', byteOrderedText, (column) => column.notNull().references('entity.uid').onDelete('cascade'))
        .addColumn('etag', 'text')
        .addColumn('last_modified', 'text')
        .addColumn('digest', 'text', (column) => column.notNull())
        .addColumn('missing_since', byteOrderedText)
        .addPrimaryKeyConstraint('remote_member_key', ['remote_url', 'manifest_url'])
        .execute();
      await db.schema.createIndex('remote_member_by_uid').on('remote_member').columns(['uid', 'remote_url']).execute();

      await db.schema
        .createTable('remote_rejection')
        .addColumn('remote_url', byteOrderedText, (column) => column.notNull())
        .addColumn('manifest_url', byteOrderedText, (column) => column.notNull())
        .addColumn('error', 'text', (column) => column.notNull())
        .addColumn('rejected_at', byteOrderedText, (column) => column.notNull())
        .addPrimaryKeyConstraint('remote_rejection_key', ['remote_url', 'manifest_url'])
        .execute();

      await db.schema
        .createTable('ingest_run')
        .addColumn('remote_url', byteOrderedText, (column) => column.notNull())
        .addColumn('started_at', byteOrderedText, (column) => column.notNull())
        .addColumn('run', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('ingest_run_key', ['remote_url', 'started_at'])
        .execute();
      await db.schema
        .createIndex('ingest_run_by_start')
        .on('ingest_run')
        .columns(['started_at', 'remote_url'])
        .execute();
    },
  };
}
