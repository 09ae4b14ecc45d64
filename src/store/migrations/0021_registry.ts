// Adds the entries of the MCP registry: one row per name and version, and a table with the finished documents.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

export function registry({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      await db.schema
        .createTable('registry_state')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('revision', 'integer')
        .addColumn('changed_at', 'text')
        .execute();
      await sql`insert into registry_state (id) values (1)`.execute(db);

      await db.schema
        .createTable('registry_member')
        .addColumn('uid', byteOrderedText, (column) => column.primaryKey())
        .addColumn('name', byteOrderedText, (column) => column.notNull())
        .addColumn('version', byteOrderedText, (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex('registry_member_of')
        .on('registry_member')
        .columns(['name', 'version', 'uid'])
        .execute();

      await db.schema
        .createTable('registry_server')
        .addColumn('name', byteOrderedText, (column) => column.notNull())
        .addColumn('version', byteOrderedText, (column) => column.notNull())
        .addColumn('name_key', byteOrderedText, (column) => column.notNull())
        .addColumn('status', 'text', (column) => column.notNull())
        .addColumn('status_message', 'text')
        .addColumn('status_changed_at', 'text', (column) => column.notNull())
        .addColumn('published_at', 'text', (column) => column.notNull())
        .addColumn('updated_at', byteOrderedText, (column) => column.notNull())
        .addColumn('is_latest', 'integer', (column) => column.notNull())
        .addColumn('digest', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('registry_server_pk', ['name', 'version'])
        .execute();
      await sql`create index registry_server_latest on registry_server (name, version) where is_latest = 1`.execute(db);

      await db.schema
        .createTable('registry_document')
        .addColumn('name', byteOrderedText, (column) => column.notNull())
        .addColumn('version', byteOrderedText, (column) => column.notNull())
        .addColumn('server', 'text', (column) => column.notNull())
        .addColumn('about', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('registry_document_pk', ['name', 'version'])
        .execute();
    },
  };
}
