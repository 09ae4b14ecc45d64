// Records which entities each revision changed, so that in-memory data can follow without a full read.
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

export function changes({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      // No foreign key to `entity`: a deletion is a change too.
      await db.schema
        .createTable('catalog_change')
        .addColumn('revision', 'integer', (column) => column.notNull())
        .addColumn('uid', byteOrderedText, (column) => column.notNull())
        .addPrimaryKeyConstraint('catalog_change_key', ['revision', 'uid'])
        .execute();
    },
  };
}
