// Adds vectors for semantic search, keyed by model and digest of the text.
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialects/dialect.ts';

export function search({ byteOrderedText }: Dialect): Migration {
  return {
    async up(db) {
      await db.schema
        .createTable('text_vector')
        .addColumn('model', byteOrderedText, (column) => column.notNull())
        .addColumn('digest', byteOrderedText, (column) => column.notNull())
        // Bytes on both engines: SQLite stores them unchanged in a column of any type.
        .addColumn('value', 'bytea', (column) => column.notNull())
        .addPrimaryKeyConstraint('text_vector_key', ['model', 'digest'])
        .execute();
    },
  };
}
