// Adds tokens and the audit log.
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

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
